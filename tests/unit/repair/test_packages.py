from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.repair import declare
from milepost.repair.declare import in_package_json
from milepost.repair.known_packages import CRATES, NODE, PYTHON, PYTHON_SAME
from milepost.repair.packages import Package, Unknown, crate, is_standard, node_package, passes, python_package
from milepost.sources.manifests import javascript, python

NONE: dict[str, str] = {}


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("cv2", "opencv-python"),
        ("PIL", "Pillow"),
        ("yaml", "PyYAML"),
        ("sklearn", "scikit-learn"),
        ("bs4", "beautifulsoup4"),
        ("dateutil", "python-dateutil"),
        ("dotenv", "python-dotenv"),
        ("jwt", "PyJWT"),
        ("attr", "attrs"),
        ("google.protobuf", "protobuf"),
        ("google.cloud.storage.blob", "google-cloud-storage"),
        ("requests", "requests"),
    ],
)
def test_the_usual_imports_have_the_package_that_provides_them(module: str, package: str) -> None:
    assert python_package(module, declared=NONE) == Package(name=package, requirement=package)


def test_the_tables_hold_enough_and_no_name_of_pythons_own() -> None:
    assert len(PYTHON) >= 80
    assert len(NODE) >= 80
    assert not [name for name in (*PYTHON, *PYTHON_SAME) if is_standard(name)]
    assert not set(PYTHON) & PYTHON_SAME
    assert all(name == usual.replace("-", "_") for name, (usual, _) in CRATES.items())


@pytest.mark.parametrize(
    "module", ["os", "distutils", "tomllib", "asyncio.tasks", "requests.missing", "../x", "a-b", ""]
)
def test_what_is_pythons_own_or_a_part_of_a_package_that_is_there_is_no_package(module: str) -> None:
    assert python_package(module, declared=NONE, approved=frozenset({module})) is None


def test_a_name_that_nobody_vouches_for_is_refused_with_what_to_do() -> None:
    found = python_package("reqeusts", declared=NONE)

    assert isinstance(found, Unknown)
    assert found.refusal == (
        '`reqeusts` is not a known package: approve it with [repair] packages = ["reqeusts"]; or was `requests` meant?'
    )


def test_a_name_passes_when_the_project_had_it_or_a_person_approved_it() -> None:
    had = python_package("house_rules", declared={"house-rules": "house-rules>=2,<3"})
    approved = python_package("house_rules", declared=NONE, approved=frozenset({"House.Rules"}))

    assert had == Package(name="house_rules", requirement="house-rules>=2,<3")
    assert approved == Package(name="House.Rules", requirement="House.Rules")


def test_what_an_environment_says_of_its_modules_names_a_package_and_vouches_for_none() -> None:
    installed = {"rules": ("house-rules",)}

    assert isinstance(python_package("rules", declared=NONE, installed=installed), Unknown)
    assert python_package("rules", declared={"house-rules": "house-rules"}, installed=installed) == Package(
        name="house-rules", requirement="house-rules"
    )


def test_of_several_packages_with_one_module_the_one_that_the_project_has_is_taken() -> None:
    declared = {"opencv-python-headless": "opencv-python-headless==4.11"}

    found = python_package("cv2", declared=declared)

    assert found == Package(name="opencv-python-headless", requirement="opencv-python-headless==4.11")


@pytest.mark.parametrize(
    "specifier", ["./x", "../x", "/x", "fs", "node:fs", "fs/promises", "@/x", "~/x", "#x", "https://x/y", "A B"]
)
def test_paths_aliases_and_what_node_has_are_no_packages(specifier: str) -> None:
    assert node_package(specifier, declared=NONE, approved=frozenset({specifier})) is None


def test_a_node_specifier_is_of_the_package_it_begins_with() -> None:
    assert node_package("lodash/fp", declared={"lodash": "^4.17.21"}) == Package(name="lodash", requirement="^4.17.21")
    assert node_package("@prisma/client/runtime", declared=NONE) == Package(name="@prisma/client", requirement="*")
    assert node_package("expres", declared=NONE) == Unknown(name="expres", resembles="express")


def test_a_crate_is_found_by_the_name_that_code_uses() -> None:
    assert crate("tracing_subscriber", declared=NONE) == Package(name="tracing-subscriber", requirement="0.3")
    assert crate("my_kit", declared={"my-kit": "2"}) == Package(name="my-kit", requirement="2")
    assert crate("std", declared=NONE) is None
    assert crate("serd", declared=NONE) == Unknown(name="serd", resembles="serde")


def test_a_package_name_in_a_manifest_passes_by_table_or_approval() -> None:
    assert passes("pyyaml", approved=frozenset(), language="python")
    assert not passes("yaml", approved=frozenset(), language="python")
    assert passes("acme", approved=frozenset({"acme"}), language="node")


def test_requirements_are_read_from_every_group_and_lock() -> None:
    files = {
        "pyproject.toml": b"""
            [project]
            dependencies = ["Flask>=3 ; python_version > '3'", "local @ file:///x"]
            [project.optional-dependencies]
            pictures = ["Pillow"]
            [dependency-groups]
            dev = ["pytest>=8", {include-group = "docs"}]
            [tool.poetry.group.docs.dependencies]
            mkdocs = "^1"
            """,
        "requirements/dev.txt": b"# note\n-r base.txt\n--index-url https://x\nruff==0.6 --hash=sha256:00 # w\n./a\n",
        "uv.lock": b'[[package]]\nname = "anyio"\nversion = "4"\n',
        "Pipfile.lock": b'{"default": {"six": {}}, "develop": {"black": {}}}',
        "notes.txt": b"evil\n",
        "package-lock.json": b"not json",
    }

    declared = python.declared(tuple(files), files.get)

    assert set(declared) == {"flask", "local", "pillow", "pytest", "mkdocs", "ruff", "anyio", "six", "black"}
    assert declared["pytest"] == "pytest>=8"
    assert declared["ruff"] == "ruff==0.6"


def test_node_versions_come_from_the_manifest_before_the_lock() -> None:
    lock = {"packages": {"": {}, "node_modules/a": {"version": "1.2.3"}, "x/node_modules/@s/b": {"version": "2.0.0"}}}
    files = {"package-lock.json": json.dumps(lock).encode(), "package.json": b'{"devDependencies": {"a": "~1.2"}}'}

    assert javascript.declared(tuple(files), files.get) == {"a": "~1.2", "@s/b": "^2.0.0"}


def test_a_requirement_is_added_at_the_end_with_the_line_ends_of_the_file() -> None:
    assert declare.in_requirements("flask\r\nrich", "PyYAML") == "flask\r\nrich\r\nPyYAML\r\n"
    assert declare.in_requirements("# only this\n", "PyYAML") == "# only this\nPyYAML\n"
    assert declare.in_requirements("pyyaml==6\n", "PyYAML") is None
    assert declare.in_requirements("a==1 --hash=sha256:0\n", "PyYAML") is None


PYPROJECT = """\
# what we are
[project]
name = "x"   # a name
dependencies = [
    "flask",  # the web
    # why not
    "rich",
]

[dependency-groups]
dev = ["pytest"]

[tool.ruff]
line-length = 100
"""


def test_a_dependency_is_added_to_pyproject_and_every_line_of_it_stays() -> None:
    own = declare.in_pyproject(PYPROJECT, "PyYAML")
    dev = declare.in_pyproject(PYPROJECT, "PyYAML", groups=("test", "dev"))

    assert own is not None and dev is not None
    assert tomllib.loads(own)["project"]["dependencies"] == ["flask", "rich", "PyYAML"]
    assert [line for line in own.splitlines() if '"PyYAML"' not in line] == PYPROJECT.splitlines()
    assert tomllib.loads(dev)["dependency-groups"]["dev"] == ["pytest", "PyYAML"]
    assert declare.in_pyproject(PYPROJECT, "Flask") is None
    assert declare.in_pyproject("[tool.ruff]\n", "PyYAML") is None
    assert declare.in_pyproject("[project]\ndynamic = ['dependencies']\n", "PyYAML") is None


def test_a_project_without_dependencies_gets_its_first_in_the_right_table() -> None:
    after = declare.in_pyproject("[project]\nname = 'x'\n\n[project.scripts]\nx = 'x:main'\n", "PyYAML")

    assert after is not None
    assert tomllib.loads(after)["project"] == {"name": "x", "scripts": {"x": "x:main"}, "dependencies": ["PyYAML"]}


def test_a_poetry_project_gets_its_dependency_where_poetry_has_them() -> None:
    text = "[tool.poetry.dependencies]\npython = '^3.11'\nflask = '*' # web\n"

    after = declare.in_pyproject(text, "PyYAML>=6")

    assert after == text + 'PyYAML = ">=6"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{\n\t"dependencies": {\n\t\t"axios": "1",\n\t\t"zod": "3"\n\t},\n\t"f": [1]\n}\n',
            '{\n\t"dependencies": {\n\t\t"axios": "1",\n\t\t"express": "*",\n\t\t"zod": "3"\n\t},\n\t"f": [1]\n}\n',
        ),
        ('{\n  "name": "x"\n}', '{\n  "name": "x",\n  "dependencies": {\n    "express": "*"\n  }\n}'),
        ('{\n  "dependencies": {}\n}\n', '{\n  "dependencies": {\n    "express": "*"\n  }\n}\n'),
        ('{"dependencies": {"zod": "3"}}', '{"dependencies": {"express": "*", "zod": "3"}}'),
        ('{"dependencies": {"express": "4"}}', None),
        ("[]", None),
        ("{", None),
    ],
)
def test_a_dependency_is_added_to_package_json_where_npm_would_put_it(before: str, after: str | None) -> None:
    assert in_package_json(before, "express", "*") == after


NAMES = st.text(st.sampled_from('abz-é"'), min_size=1, max_size=4)


@given(
    st.dictionaries(NAMES, st.one_of(st.integers(), st.lists(NAMES), st.dictionaries(NAMES, NAMES)), max_size=4),
    st.dictionaries(NAMES, NAMES, max_size=4),
    st.sampled_from([None, 2, "\t"]),
    NAMES,
)
def test_whatever_package_json_holds_only_the_one_dependency_is_new(
    rest: dict[str, object], dependencies: dict[str, str], indent: int | str | None, name: str
) -> None:
    table = {**rest, "dependencies": dependencies}
    after = in_package_json(json.dumps(table, indent=indent), name, "1")

    if name in dependencies:
        assert after is None
    else:
        assert after is not None
        assert json.loads(after) == {**table, "dependencies": {**dependencies, name: "1"}}


def test_a_crate_is_added_to_cargo_toml_and_its_comments_stay() -> None:
    text = '[package]\nname = "x" # us\n\n[dependencies]\nserde = { version = "1" } # data\n'

    assert declare.in_cargo(text, "rand", "0.8") == text + 'rand = "0.8"\n'
    assert declare.in_cargo(text, "serde", "1") is None
    tests = declare.in_cargo(text, "tempfile", "3", dev=True)
    assert tests is not None
    assert tomllib.loads(tests)["dev-dependencies"] == {"tempfile": "3"}
    assert declare.in_cargo("[workspace]\n", "rand", "0.8") is None
