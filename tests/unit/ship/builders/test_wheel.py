from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path

import pytest

from milepost.core.errors import PackageFailed
from milepost.ship.builders.generated_pyproject import generated_pyproject
from milepost.ship.builders.wheel import WheelKind, build_step, started_by
from milepost.ship.recipe import Step
from tests.unit.ship.sources import source

PIP = ("{kit}/pip/bin/python", "-I", "-m", "pip", "--disable-pip-version-check", "--no-input")
QUIET = ("--quiet", "--no-warn-script-location")


def test_what_builds_is_fetched_with_the_network_and_installed_without() -> None:
    made = WheelKind().recipe(source({"pyproject.toml": '[build-system]\nrequires = ["flit_core>=3"]\n'}))
    assert made.generated == {}
    assert made.prepare == (
        Step(argv=("{python}", "-I", "-m", "venv", "{kit}/pip")),
        Step(argv=("{python}", "-I", "-m", "venv", "--without-pip", "{kit}/env")),
        Step(
            argv=(
                *(*PIP, "download", "--quiet", "--only-binary", ":all:", "--dest", "{kit}/wheels"),
                *("build", "flit_core>=3"),
            ),
            tool="pip",
        ),
        Step(
            argv=(
                *(*PIP, "--python", "{kit}/env/bin/python", "install", *QUIET),
                *("--no-index", "--find-links", "{kit}/wheels", "build", "flit_core>=3"),
            )
        ),
    )
    assert [step.tool for step in made.ready] == ["", "pip", ""], "the project's own code runs without a network"
    assert made.build[0].argv == (
        *("{kit}/env/bin/python", "-I", "-m", "build", "--no-isolation", "--skip-dependency-check"),
        *("--outdir", "{out}", "{tree}"),
    )


def test_uv_builds_where_it_is_there() -> None:
    assert build_step(with_uv=True).argv == (
        *("uv", "build", "--no-build-isolation", "--offline", "--no-config", "--python", "{kit}/env/bin/python"),
        *("--out-dir", "{out}", "{tree}"),
    )


def test_a_build_that_would_be_fetched_from_an_address_is_refused() -> None:
    manifest = '[build-system]\nrequires = ["a @ https://example.org/a.tar.gz"]\n'
    with pytest.raises(PackageFailed, match="not a package by its name"):
        WheelKind().recipe(source({"pyproject.toml": manifest}))


def test_a_project_without_a_manifest_gets_one_that_keeps_what_its_own_says() -> None:
    tree = source(
        {
            "pyproject.toml": "[tool.ruff]\nline-length = 100\n",
            "src/durations/__init__.py": "",
            "src/durations/cli.py": "def main():\n    pass\n",
            "requirements.txt": "# all\nrich>=13  # colours\n-r other.txt\nhttps://example.org/a.whl\n",
            "README.md": "",
        }
    )
    (text,) = generated_pyproject(tree).values()
    made = tomllib.loads(text.decode())
    assert made["tool"]["ruff"] == {"line-length": 100}
    assert made["build-system"] == {"requires": ["hatchling"], "build-backend": "hatchling.build"}
    assert made["project"] == {
        "name": "durations",
        "version": "0.1.0",
        "requires-python": ">=3.9",
        "readme": "README.md",
        "dependencies": ["rich>=13"],
        "scripts": {"durations": "durations.cli:main"},
    }
    assert made["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/durations"]}


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.py"])
def test_a_manifest_of_the_users_is_used_as_it_is(name: str) -> None:
    assert generated_pyproject(source({name: '[project]\nname = "a"\n', "a/__init__.py": ""})) == {}


@pytest.mark.parametrize(
    ("files", "start"),
    [
        ({"a-1.dist-info/entry_points.txt": "[console_scripts]\nother = a:b\na-tool = a:main\n"}, ("a-tool",)),
        ({"a-1.dist-info/entry_points.txt": "[console_scripts]\nx = a:b\ny = a:c\n"}, ("x",)),
        ({"a/__main__.py": "", "a/b/__main__.py": ""}, ("python", "-m", "a")),
        ({"a/__init__.py": ""}, ()),
    ],
)
def test_a_wheel_is_started_by_its_own_name_first(
    files: dict[str, str], start: tuple[str, ...], tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    assert started_by(tmp_path / "a.whl", "a_tool") == start
