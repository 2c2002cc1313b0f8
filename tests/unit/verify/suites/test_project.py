from __future__ import annotations

import base64
import hashlib
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.verify.suites.python_project import environment_for, find_interpreter, find_test_files, source_folder


def write(path: Path, text: str = "", *, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def make_environment(folder: Path) -> Path:
    write(folder / "pyvenv.cfg", "home = /usr/bin\nversion = 3.11.7\n")
    return write(folder / "bin" / "python", "#!/bin/sh\n", mode=0o755)


def test_test_files_are_found_by_name_and_not_in_environments_or_hidden_folders(tmp_path: Path) -> None:
    for name in (
        "test_a.py",
        "pkg/b_test.py",
        "tests/deep/test_c.py",
        "tests/conftest.py",
        "pkg/testing.py",
        "a.test_py",
    ):
        write(tmp_path / name)
    for name in (".venv/test_x.py", "venv/test_x.py", "node_modules/p/test_x.py", ".tox/test_x.py"):
        write(tmp_path / name)
    (tmp_path / "loop").symlink_to(tmp_path)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)

    found = find_test_files(tmp_path)

    closed.chmod(0o755)  # or pytest could not clear it away
    assert found == ("pkg/b_test.py", "test_a.py", "tests/deep/test_c.py")


def test_the_interpreter_is_the_set_one_then_the_repositorys_then_the_shells_then_the_systems(tmp_path: Path) -> None:
    repository, system = tmp_path / "repo", tmp_path / "system"
    repository.mkdir()
    python3 = write(system / "python3", "#!/bin/sh\n", mode=0o755)
    activated = make_environment(tmp_path / "activated")
    environ = {"PATH": str(system)}

    def found(setting: str = "", **more: str) -> Path | None:
        interpreter = find_interpreter(repository, environ | more, setting)
        return interpreter.path if interpreter else None

    assert find_interpreter(repository, {"PATH": ""}) is None
    assert found() == python3
    assert found(VIRTUAL_ENV=str(tmp_path / "activated")) == activated
    second = make_environment(repository / "venv")
    assert found(VIRTUAL_ENV=str(tmp_path / "activated")) == second
    first = make_environment(repository / ".venv")
    assert found() == first
    assert found("python3") == python3
    assert found("venv/bin/python") == second
    assert found("no-such-python") is None


def test_what_poetry_and_pipenv_keep_elsewhere_is_the_projects_own(tmp_path: Path) -> None:
    repository, home = tmp_path / "repo", tmp_path / "home"
    activated = make_environment(tmp_path / "activated")
    environ = {"PATH": "", "HOME": str(home), "VIRTUAL_ENV": str(tmp_path / "activated")}
    write(repository / "poetry.lock")
    write(repository / "Pipfile")

    def mark(path: Path) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(str(path).encode()).digest()[:6]).decode()

    def found() -> Path | None:
        interpreter = find_interpreter(repository, environ)
        return interpreter.path if interpreter else None

    make_environment(home / ".cache/pypoetry/virtualenvs/repo-AAAAAAAA-py3.11")
    assert found() == activated
    pipenv = make_environment(home / f".local/share/virtualenvs/repo-{mark(repository / 'Pipfile')}")
    assert found() == pipenv
    poetry = make_environment(home / f".cache/pypoetry/virtualenvs/repo-{mark(repository.resolve())}-py3.11")
    assert found() == poetry


def test_an_environment_is_readable_and_first_on_the_path_of_commands(tmp_path: Path) -> None:
    make_environment(tmp_path / ".venv")

    interpreter = find_interpreter(tmp_path, {"PATH": ""})

    assert interpreter is not None
    assert interpreter.readable == (tmp_path / ".venv",)
    assert interpreter.version == "3.11.7"
    variables = environment_for(interpreter, Path("/checkout"), "/usr/bin")
    assert variables == {"VIRTUAL_ENV": str(tmp_path / ".venv"), "PATH": f"{tmp_path}/.venv/bin:/usr/bin"}
    told = replace(interpreter, programs=(Path("/own/bin"),), imports=("src", "/own/site"))
    assert environment_for(told, Path("/checkout"), "/usr/bin") == variables | {
        "PATH": f"/own/bin:{tmp_path}/.venv/bin:/usr/bin",
        "PYTHONPATH": "/checkout/src:/own/site",
    }


def test_what_an_editable_install_imports_from_the_repository_is_imported_from_the_checkout(tmp_path: Path) -> None:
    make_environment(tmp_path / ".venv")
    packages = tmp_path / ".venv/lib/python3.11/site-packages"
    write(packages / "_editable.pth", f"{tmp_path}/src\n/elsewhere/src\nimport something\n")
    write(packages / "__editable___tool_finder.py", f"MAPPING = {{'tool': '{tmp_path}/lib/tool'}}\n")

    interpreter = find_interpreter(tmp_path, {"PATH": ""})

    assert interpreter is not None
    assert environment_for(interpreter, Path("/checkout"), "")["PYTHONPATH"] == "/checkout/lib:/checkout/src"


def test_a_src_folder_that_would_hide_the_standard_library_is_no_source_folder(tmp_path: Path) -> None:
    assert source_folder(tmp_path) is None
    write(tmp_path / "src" / "app.py")
    assert source_folder(tmp_path) == tmp_path / "src"
    write(tmp_path / "src" / "logging.py")
    assert source_folder(tmp_path) is None


def test_a_script_of_the_repository_is_not_run_to_find_the_interpreter_that_it_stands_for(tmp_path: Path) -> None:
    seen, repository = tmp_path / "ran.txt", tmp_path / "repository"
    for folder in (repository / ".venv" / "bin", tmp_path / "shims"):
        folder.mkdir(parents=True)
        script = folder / "python"
        script.write_text(f"#!/bin/sh\necho {folder} >> {seen}\necho {sys.executable}\n")
        script.chmod(0o755)
    (repository / ".venv" / "pyvenv.cfg").write_text("version = 3.11.7\n")

    found = find_interpreter(repository, {"PATH": ""})
    named = find_interpreter(repository, {"PATH": ""}, "./.venv/bin/../bin/python")
    outside = find_interpreter(repository, {"PATH": ""}, str(tmp_path / "shims" / "python"))

    assert found is not None and found.path == repository / ".venv" / "bin" / "python"
    assert named is not None and outside is not None and outside.path == Path(sys.executable)
    assert seen.read_text() == f"{tmp_path / 'shims'}\n"


def test_a_git_of_the_repository_is_not_asked_what_is_tracked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "repo/git", f"#!/bin/sh\ntouch {tmp_path}/ran\n", mode=0o755)
    make_environment(tmp_path / "repo/.venv")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    find_interpreter(tmp_path / "repo", os.environ)
    assert not (tmp_path / "ran").exists()
