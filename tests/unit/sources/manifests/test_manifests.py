"""One more package in a manifest: what the recipe adds or leaves alone, and what the pattern adds or refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from milepost.agents.patterns import dependencies as pattern
from milepost.repair import declare as recipe
from milepost.sources.manifests.adding import CannotAdd, Dependency

Adding = Callable[[str, Dependency], str]
REFUSED = "refused: "
THERE = f"{REFUSED}is there already; give replace=true"
BOTH_GROUPS = "[project]\nname='x'\n[dependency-groups]\ndev=['a']\n[project.optional-dependencies]\ndev=['b']\n"
POETRY = "[tool.poetry]\nname='x'\n[tool.poetry.dependencies]\npython='*'\n"
NEW_POETRY = "[project]\nname='x'\n[tool.poetry.dependencies]\npython='*'\n"


def added(add: Adding, text: str, expected: str, **wanted: str) -> None:
    """Check what a pattern makes of a text: the text after, or why it refuses."""
    dependency = Dependency(**wanted)  # type: ignore[arg-type]
    if expected.startswith(REFUSED):
        with pytest.raises(CannotAdd) as refusal:
            add(text, dependency)
        assert expected.removeprefix(REFUSED) in str(refusal.value)
    else:
        assert add(text, dependency) == expected


@pytest.mark.parametrize(
    ("text", "group", "by_recipe", "by_pattern"),
    [
        ("", "main", None, f"{REFUSED}it has no [project]"),
        ("a = ", "main", None, f"{REFUSED}it cannot be read"),
        (
            "[project]\nname='x'\n",
            "main",
            "[project]\nname='x'\ndependencies = [\"py-yaml>=6\"]\n",
            "[project]\nname='x'\ndependencies = [\"py-yaml>=6\"]\n",
        ),
        (  # the recipe adds to a group that is there, the pattern to the one that it was given
            "[project]\nname='x'\n",
            "dev",
            "[project]\nname='x'\ndependencies = [\"py-yaml>=6\"]\n",
            "[project]\nname='x'\n\n[dependency-groups]\ndev = [\"py-yaml>=6\"]\n",
        ),
        (
            BOTH_GROUPS,
            "dev",
            BOTH_GROUPS.replace("['a']", "['a', \"py-yaml>=6\"]"),
            BOTH_GROUPS.replace("['b']", "['b', \"py-yaml>=6\"]"),
        ),
        (
            NEW_POETRY,
            "main",
            f'{NEW_POETRY}py-yaml = ">=6"\n',
            NEW_POETRY.replace("[tool", 'dependencies = ["py-yaml>=6"]\n[tool'),
        ),
        (
            POETRY,
            "dev",
            f'{POETRY}py-yaml = ">=6"\n',
            f'{POETRY}\n[tool.poetry.group.dev.dependencies]\npy-yaml = ">=6"\n',
        ),
        (f"{POETRY}Py_YAML='^6'\n", "main", None, f"{REFUSED}'Py_YAML ^6' {THERE.removeprefix(REFUSED)}"),
        ("[tool.poetry.dependencies]\npy-yaml={version='^6'}\n", "main", None, THERE),
        ("[project]\ndependencies=['py.yaml @ https://e.org/x']\n", "main", None, THERE),
        ("[project]\ndependencies=['Py_YAML[x] >= 6']\n", "main", None, THERE),
        (
            "[project]\r\nname='x'\r\ndependencies=[\r\n  'a',\r\n]\r\n",
            "main",
            "[project]\r\nname='x'\r\ndependencies=[\r\n  'a',\r\n  \"py-yaml>=6\",\r\n]\r\n",
            "[project]\r\nname='x'\r\ndependencies=[\r\n  'a',\r\n  \"py-yaml>=6\",\r\n]\r\n",
        ),
    ],
)
def test_a_pyproject_takes_a_package_where_each_caller_wants_it(
    text: str, group: str, by_recipe: str | None, by_pattern: str
) -> None:
    groups = () if group == "main" else ("test", group)

    assert recipe.in_pyproject(text, "py-yaml>=6", groups=groups) == by_recipe
    added(pattern.in_pyproject, text, by_pattern, name="py-yaml", version=">=6", group=group)


@pytest.mark.parametrize(
    ("text", "by_recipe", "by_pattern"),
    [
        ("", "py-yaml>=6\n", "py-yaml>=6\n"),
        ("# pip-compile\na\n", None, "# pip-compile\na\npy-yaml>=6\n"),
        ("https://e.org/x\n", "https://e.org/x\npy-yaml>=6\n", "https://e.org/x\npy-yaml>=6\n"),
        ("-e ./py-yaml\n", "-e ./py-yaml\npy-yaml>=6\n", "-e ./py-yaml\npy-yaml>=6\n"),
        ("Py.YAML>=6\n", None, "Py.YAML>=6\n"),
        ("py-yaml>=6 # why\n", None, "py-yaml>=6 # why\n"),
        ("py-yaml\n", None, THERE),
        ("x\npy-yaml-more\n", "x\npy-yaml-more\npy-yaml>=6\n", "x\npy-yaml-more\npy-yaml>=6\n"),
    ],
)
def test_a_requirements_file_takes_a_package_once(text: str, by_recipe: str | None, by_pattern: str) -> None:
    assert recipe.in_requirements(text, "py-yaml>=6") == by_recipe
    added(pattern.in_requirements, text, by_pattern, name="py-yaml", version=">=6")


@pytest.mark.parametrize(
    ("text", "dev", "by_recipe", "by_pattern"),
    [
        ("{}", False, '{\n  "dependencies": {\n    "e": "^1"\n  }\n}', '{\n  "dependencies": {\n    "e": "^1"\n  }\n}'),
        ('{"dependencies": []}', False, None, f"{REFUSED}its dependencies are no object"),
        ('{"devDependencies": {"e": "1"}}', True, None, f"{REFUSED}'e 1' {THERE.removeprefix(REFUSED)}"),
        ('{"dependencies": {"e": "^1"}}', False, None, '{"dependencies": {"e": "^1"}}'),
        ('{"dependencies": {"e": "9"}}', False, None, THERE),
        ("[]", True, None, f"{REFUSED}its dependencies are no object"),
        (  # what runs has it for tests too; a pattern does what it is told
            '{\n  "dependencies": {\n    "e": "9"\n  }\n}',
            True,
            None,
            '{\n  "dependencies": {\n    "e": "9"\n  },\n  "devDependencies": {\n    "e": "^1"\n  }\n}',
        ),
        (
            '{\n  "dependencies": {\n    "z": "1",\n    "b": "2"\n  }\n}\n',
            False,
            '{\n  "dependencies": {\n    "z": "1",\n    "b": "2",\n    "e": "^1"\n  }\n}\n',
            '{\n  "dependencies": {\n    "z": "1",\n    "b": "2",\n    "e": "^1"\n  }\n}\n',
        ),
    ],
)
def test_a_package_json_takes_a_package_where_each_caller_wants_it(
    text: str, dev: bool, by_recipe: str | None, by_pattern: str
) -> None:
    assert recipe.in_package_json(text, "e", "^1", dev=dev) == by_recipe
    added(pattern.in_package_json, text, by_pattern, name="e", version="^1", group="dev" if dev else "main")


PACKAGE = "[package]\nname='x'\n"


@pytest.mark.parametrize(
    ("text", "dev", "by_recipe", "by_pattern"),
    [
        ("", False, None, f"{REFUSED}it has no [package]"),
        (PACKAGE, False, f'{PACKAGE}\n[dependencies]\na-b = "1"\n', f'{PACKAGE}\n[dependencies]\na-b = "1"\n'),
        (PACKAGE, True, f'{PACKAGE}\n[dev-dependencies]\na-b = "1"\n', f'{PACKAGE}\n[dev-dependencies]\na-b = "1"\n'),
        (f"{PACKAGE}[dependencies]\na-b='1'\n", False, None, f"{PACKAGE}[dependencies]\na-b='1'\n"),
        (
            f"{PACKAGE}[dependencies]\na-b='1'\n",
            True,
            None,
            f"{PACKAGE}[dependencies]\na-b='1'\n\n[dev-dependencies]\na-b = \"1\"\n",
        ),
        (f"{PACKAGE}[dependencies]\na-b={{path='..'}}\n", False, None, THERE),
        (f"{PACKAGE}[dev-dependencies]\na-b='2'\n[workspace]\n", True, None, THERE),
        (
            f"{PACKAGE}[dependencies]\n\n[workspace]\n",
            False,
            f'{PACKAGE}[dependencies]\na-b = "1"\n\n[workspace]\n',
            f'{PACKAGE}[dependencies]\na-b = "1"\n\n[workspace]\n',
        ),
    ],
)
def test_a_cargo_manifest_takes_a_crate_where_each_caller_wants_it(
    text: str, dev: bool, by_recipe: str | None, by_pattern: str
) -> None:
    assert recipe.in_cargo(text, "a-b", "1", dev=dev) == by_recipe
    added(pattern.in_cargo, text, by_pattern, name="a-b", version="1", group="dev" if dev else "main")


@pytest.mark.parametrize(
    ("add", "text"),
    [
        (pattern.in_pyproject, "[project]\n"),
        (pattern.in_requirements, ""),
        (pattern.in_package_json, "{}"),
        (pattern.in_cargo, PACKAGE),
    ],
)
def test_a_group_is_made_only_where_the_manifest_may_have_it(add: Adding, text: str) -> None:
    if add is pattern.in_pyproject:
        assert add(text, Dependency(name="a", group="odd")) == '[project]\n\n[dependency-groups]\nodd = ["a"]\n'
    else:
        with pytest.raises(CannotAdd, match="group 'odd'"):
            add(text, Dependency(name="a", version="1", group="odd"))


def test_extras_are_not_written_into_the_tables_of_poetry() -> None:
    with pytest.raises(CannotAdd, match="extras"):
        pattern.in_pyproject(POETRY, Dependency(name="a[b]"))
