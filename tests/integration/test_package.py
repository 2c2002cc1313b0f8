"""Each kind of artifact built twice from a small project, and run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from milepost.core.errors import MilepostError
from milepost.core.shipping import ArtifactKind
from milepost.engine.packaging import Packaged, package
from milepost.engine.project.project import Project
from milepost.sandbox.levels import ladder

pytestmark = pytest.mark.skipif(not ladder()[1].ok, reason="the sandbox cannot be held here")

Make = Callable[[Mapping[str, str]], Project]
_WHEELS = ("build", "hatchling")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what builds wheels, which is all that pip is given."""
    folder = tmp_path_factory.mktemp("wheels")
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(folder)]
    try:
        done = subprocess.run([*argv, *_WHEELS], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("pip cannot fetch build and hatchling")
    if done.returncode != 0:
        pytest.skip("pip cannot fetch build and hatchling")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def make(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """A repository with these files, committed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def made(files: Mapping[str, str]) -> Project:
        top = tmp_path / "project"
        for name, text in {"ROADMAP.md": "- [ ] 1.1 A\n", **files}.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
        commit(top)
        return Project.find(top / "ROADMAP.md")

    yield made


def commit(top: Path) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull}
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "W")):
        subprocess.run(["git", *words], cwd=top, check=True, env=os.environ | own)


def refused(project: Project, kind: ArtifactKind) -> MilepostError:
    """What packaging is refused with; nothing is left behind of it."""
    with pytest.raises(MilepostError) as error:
        package(project, kind=kind, unproven=True)
    assert not list((project.state / "artifacts").glob("*"))
    return error.value


def packaged(project: Project, kind: ArtifactKind | None = None) -> Packaged:
    made = package(project, kind=kind, unproven=True)
    assert not list((project.state / "artifacts").glob(".new-*"))
    return made


PYTHON = {
    "durations/__init__.py": "",
    "durations/cli.py": "import sys\n\ndef main():\n    print('usage: durations', sys.argv[1:])\n",
}


def test_a_wheel_is_built_without_touching_the_project_and_called(
    make: Make, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    project = make(PYTHON)
    made = packaged(project)
    assert (made.artifact.kind, made.artifact.name, made.artifact.start) == ("wheel", "durations", ("durations",))
    assert made.ran == "installed in a fresh environment, durations called"
    assert not made.cached
    assert "+build-backend" in made.diff and not (project.repository.top / "pyproject.toml").exists()
    assert packaged(project).cached

    made.artifact.path.write_bytes(b"something else")
    again = packaged(project)
    assert not again.cached, "what is kept is looked at before it is used"
    assert again.artifact.sha256 == made.artifact.sha256, "built once more, it is the same"
