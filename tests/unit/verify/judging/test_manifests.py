"""Manifests that say both what the product is and how it is judged."""

from __future__ import annotations

import json
import tomllib

import pytest

from milepost.verify.judging.manifests import merged_manifest

PYPROJECT = """\
# What this is.
[project]
name = "shop"  # its name
dependencies = ["attrs"]

[project.scripts]
shop = "shop:main"

[tool.poetry.dependencies]
attrs = "^1"

[tool.pytest.ini_options]
addopts = "-q"  # quiet

[tool.uv]
dev-dependencies = ["pytest"]
"""


def pyproject(after: str, before: str | None = PYPROJECT) -> str:
    made = merged_manifest("pyproject.toml", None if before is None else before.encode(), after.encode())
    assert made is not None
    return made.decode()


def package(before: object, after: object) -> object:
    old, new = (None if one is None else json.dumps(one, indent=2).encode() for one in (before, after))
    assert new is not None
    made = merged_manifest("package.json", old, new)
    return None if made is None else json.loads(made)


def cargo(before: str, after: str) -> dict[str, object]:
    made = merged_manifest("Cargo.toml", before.encode(), after.encode())
    assert made is not None
    return tomllib.loads(made.decode())


def test_what_the_product_needs_is_new_and_how_it_is_tested_is_old_with_the_comments_of_both() -> None:
    after = PYPROJECT.replace('["attrs"]', '[\n    "attrs",\n    "httpx",  # new\n]').replace('"-q"', '"-p lies"')
    after = after.replace('attrs = "^1"', 'attrs = "^2"').replace('["pytest"]', '["pytest", "respx"]')
    after = after.replace('shop = "shop:main"', 'shop = "shop:main"\nbuy = "shop:buy"')
    made = pyproject(after)
    meant = tomllib.loads(after)
    meant["tool"]["pytest"]["ini_options"]["addopts"] = "-q"
    assert tomllib.loads(made) == meant
    assert "# quiet" in made
    assert "# new" in made
    assert "# What this is." in made


@pytest.mark.parametrize(
    "section",
    [
        '[tool.pytest.ini_options]\naddopts = "-p lies"\n',
        '[tool.pytest]\naddopts = ["-p", "lies"]\n',
        '[tool.coverage.run]\nplugins = ["lies"]\n',
        '[tool.tox]\nenv_list = ["lies"]\n',
        '[tool.hatch.envs.default.scripts]\ntest = "true"\n',
        '[tool.hatch.build.hooks.custom]\npath = "lies.py"\n',
        '[tool.poe.tasks]\ntest = "true"\n',
        '[tool.pdm.scripts]\ntest = "true"\n',
        '[tool.poetry.plugins.pytest11]\nlies = "shop.lies"\n',
        '[tool.poetry.build]\nscript = "lies.py"\n',
        '[tool.setuptools.cmdclass]\ninstall = "lies.Install"\n',
        '[tool.uv.sources]\npytest = { path = "lies" }\n',
        '[project.entry-points.pytest11]\nlies = "shop.lies"\n',
        '[build-system]\nbackend-path = ["lies"]\n',
        "[tool.mypy]\nignore_errors = true\n",
        '[unknown]\nlies = "x"\n',
    ],
)
def test_a_section_that_judges_is_not_added(section: str) -> None:
    old = '[project]\nname = "shop"\n'
    assert tomllib.loads(pyproject(old + section, old)) == tomllib.loads(old)
    both = old.replace("shop", "store") + section
    assert tomllib.loads(pyproject(both, old)) == {"project": {"name": "store"}}
    assert tomllib.loads(pyproject(both, None)) == {"project": {"name": "store"}}


@pytest.mark.parametrize(
    "section",
    [
        '[project.entry-points."shop.plugins"]\na = "shop.a"\n',
        '[project.optional-dependencies]\nweb = ["x"]\n',
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n',
        '[dependency-groups]\ntest = ["pytest"]\n',
        '[tool.poetry.group.dev.dependencies]\npytest = "*"\n',
        '[tool.setuptools.packages.find]\nwhere = ["src"]\n',
        '[tool.hatch.build.targets.wheel]\npackages = ["src/shop"]\n',
        '[tool.uv.workspace]\nmembers = ["a"]\n',
        "[tool.uv.sources]\na = { workspace = true }\n",
    ],
)
def test_a_section_of_the_product_is_added(section: str) -> None:
    after = f'[project]\nname = "shop"\n\n{section}'
    assert pyproject(after, '[project]\nname = "shop"\n') == after
    assert pyproject(after, None) == after


def test_what_the_product_does_not_need_any_more_is_gone_and_a_judging_section_comes_back() -> None:
    after = '[project]\nname = "shop"\ndependencies = ["attrs"]\n'
    made = tomllib.loads(pyproject(after))
    assert made == {
        "project": {"name": "shop", "dependencies": ["attrs"]},
        "tool": {"pytest": {"ini_options": {"addopts": "-q"}}},
    }


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "composer.json"])
@pytest.mark.parametrize("wrong", [b"a\n= {", b"\xff\xfe", b"{" * 50_000, b"[" * 50_000, b"x" * 600_000])
def test_what_cannot_be_read_on_a_side_is_not_split(name: str, wrong: bytes) -> None:
    right = b"{}" if name.endswith("json") else b""
    assert merged_manifest(name, wrong, right) is None
    assert merged_manifest(name, right, wrong) is None


@pytest.mark.parametrize("other", [b"[1]", b'"text"', b"null", b"1"])
def test_a_package_that_is_no_object_is_not_split(other: bytes) -> None:
    assert merged_manifest("package.json", b'{"scripts": {"test": "jest"}}', other) is None


def test_scripts_and_settings_of_a_package_are_old_and_its_dependencies_new() -> None:
    before = {"name": "a", "scripts": {"test": "jest"}, "jest": {"x": 1}, "dependencies": {"b": "1"}}
    after = {
        "name": "a",
        "type": "module",
        "exports": {".": "./index.js"},
        "bin": {"a": "./cli.js"},
        "scripts": {"test": "true", "pretest": "lies"},
        "mocha": {"require": "./lies"},
        "dependencies": {"b": "2", "c": "1", "d": "workspace:*"},
        "devDependencies": {"e": "file:../e"},
    }
    assert package(before, after) == {
        "name": "a",
        "type": "module",
        "exports": {".": "./index.js"},
        "bin": {"a": "./cli.js"},
        "scripts": {"test": "jest"},
        "jest": {"x": 1},
        "dependencies": {"b": "2", "c": "1", "d": "workspace:*"},
        "devDependencies": {"e": "file:../e"},
    }


@pytest.mark.parametrize(
    "other", ["file:./lies", "link:lies", "./lies", "npm:lies@1", "user/lies", "git+ssh://x", "x.tgz"]
)
def test_a_package_of_the_registry_does_not_come_from_elsewhere(other: str) -> None:
    before = {"devDependencies": {"jest": "^29"}, "version": "1"}
    assert package(before, {"devDependencies": {"jest": other}, "version": "2"}) == {**before, "version": "2"}
    assert package(before, {**before, "version": "2", "overrides": {"jest": other}}) == {**before, "version": "2"}
    assert package(before, {**before, "overrides": {"a": {"jest": other}}}) == before


def test_a_new_package_has_only_what_is_the_products() -> None:
    assert package(None, {"name": "a", "scripts": {"test": "true"}}) == {"name": "a"}


def test_the_indentation_of_a_package_is_kept() -> None:
    before = b'{\n\t"scripts": {\n\t\t"test": "jest"\n\t},\n\t"version": "1"\n}\n'
    after = before.replace(b"jest", b"true").replace(b'"1"', b'"2"')
    assert merged_manifest("package.json", before, after) == before.replace(b'"1"', b'"2"')


def test_which_tests_of_a_crate_are_built_is_old_and_its_dependencies_are_new() -> None:
    before = '[package]\nname = "a"\n[dependencies]\nb = "1"\n[[test]]\nname = "it"\n'
    after = (
        '[package]\nname = "a"\nautotests = false\nbuild = "lies.rs"\n[lib]\ntest = false\nname = "b"\n'
        '[dependencies]\nb = "2"\nc = { version = "1", features = ["git"] }\n'
        '[target."cfg(unix)".dependencies]\nd = "1"\n'
        '[dev-dependencies]\ne = "1"\n[patch.crates-io]\nb = { path = "lies" }\n'
        "[profile.test]\ndebug-assertions = false\n"
        '[[test]]\nname = "it"\nharness = false\n[features]\nx = []\n'
    )
    assert cargo(before, after) == {
        "package": {"name": "a"},
        "lib": {"name": "b"},
        "dependencies": {"b": "2", "c": {"version": "1", "features": ["git"]}},
        "target": {"cfg(unix)": {"dependencies": {"d": "1"}}},
        "dev-dependencies": {"e": "1"},
        "test": [{"name": "it"}],
        "features": {"x": []},
    }


def test_a_crate_of_the_registry_does_not_come_from_the_tree() -> None:
    before = '[package]\nname = "a"\n[dependencies]\nb = "1"\n'
    after = '[package]\nname = "a"\n[dependencies]\nb = { path = "lies" }\n'
    assert cargo(before, after) == tomllib.loads(before)


SETUP = (
    "# head\n[metadata]\nname = shop\n\n[tool:pytest]\n# quiet\naddopts = -q\n\n[options]\ninstall_requires = attrs\n"
)


@pytest.mark.parametrize(
    ("after", "made"),
    [
        (SETUP.replace("attrs", "httpx"), SETUP.replace("attrs", "httpx")),
        (SETUP.replace("-q", "-p lies"), SETUP),
        (SETUP.replace("-q", "-p lies").replace("attrs", "httpx"), SETUP.replace("attrs", "httpx")),
        (
            f"{SETUP}[coverage:run]\nomit = *\n[options.extras_require]\na = b\n",
            f"{SETUP}[options.extras_require]\na = b\n",
        ),
        (f"{SETUP}[options.entry_points]\npytest11 =\n    lies = shop.lies\n", SETUP),
        ("[metadata]\nname = store\n", "# head\n[metadata]\nname = store\n[tool:pytest]\n# quiet\naddopts = -q\n\n"),
    ],
)
def test_a_setup_cfg_is_split_by_section(after: str, made: str) -> None:
    assert merged_manifest("setup.cfg", SETUP.encode(), after.encode()) == made.encode()


@pytest.mark.parametrize(
    "after",
    [
        "[metadata]\n  [tool:pytest]\naddopts = -p lies\n[options]\na = 1\n",
        "[metadata]\nname = a\n[metadata]\nname = b\n",
        "name = a\n",
    ],
)
def test_a_setup_cfg_that_hides_a_section_in_another_is_not_split(after: str) -> None:
    made = merged_manifest("setup.cfg", SETUP.encode(), after.encode())
    assert made is None or b"lies" not in made
