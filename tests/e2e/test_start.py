"""`milepost start`: the entry point of a project, run in the sandbox, and what to do when it fails."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Sandbox
from tests.integration.test_verify_environments import tarball, wheel, write

PYPROJECT = (
    '[project]\nname = "shop"\nversion = "1"\ndependencies = ["tiny-greeting"]\n[project.scripts]\nshop = "shop:run"\n'
)


@pytest.fixture
def project(sandbox: Sandbox) -> Path:
    folder = sandbox.home / "app"
    folder.mkdir()
    return folder


def with_pip(sandbox: Sandbox, **wheels: bytes) -> dict[str, str]:
    """The variables of a user whose python3 has pip, and whose packages are wheels in a folder."""
    write(sandbox.home / "wheels", wheels)
    (sandbox.home / "bin").mkdir()
    (sandbox.home / "bin/python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    path = f"{sandbox.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(sandbox.home / "wheels")}


def names_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_a_python_project_runs_with_the_dependencies_that_it_declares(sandbox: Sandbox, project: Path) -> None:
    env = with_pip(
        sandbox,
        **{"tiny_greeting-1-py3-none-any.whl": wheel("tiny_greeting", "1", **{"tiny_greeting.py": "WORD = 'hello'\n"})},
    )
    code = "import sys, tiny_greeting\ndef run():\n    print(tiny_greeting.WORD, *sys.argv[1:])\n"
    write(
        project,
        {"pyproject.toml": PYPROJECT, "src/shop/__init__.py": code, "serve.py": "if __name__ == '__main__': pass\n"},
    )

    ran = sandbox.milepost("start", str(project), "--", "--to", "you", **env)

    assert (ran.code, ran.stdout) == (0, "hello --to you\n"), ran.stderr
    assert ran.stderr.splitlines()[:2] == [
        "starting shop: console script in pyproject.toml",
        "other entry points, for --entry: serve",
    ]
    assert ran.stderr.splitlines()[-1].startswith("ended after ")
    assert not {name for name in names_in(project) if "tiny" in name or "venv" in name}


def test_a_package_that_nobody_declared_is_installed_for_one_run_only(sandbox: Sandbox, project: Path) -> None:
    files = {"tiny_words.py": "def get():\n    return 'got it'\n"}
    env = with_pip(sandbox, **{"tiny_words-9-py3-none-any.whl": wheel("tiny_words", "9", **files)})
    write(project, {"main.py": "import tiny_words\nprint(tiny_words.get())\n"})

    unknown = sandbox.milepost("start", str(project), **env)
    assert unknown.code == 1 and "installing" not in unknown.stderr
    assert """approve it with [repair] packages = ["tiny_words"]""" in unknown.stderr.splitlines()[-1]
    write(project, {"milepost.toml": '[repair]\npackages = ["tiny_words"]\n'})

    refused = sandbox.milepost("start", str(project), "--network", "none", **env)
    keep = "printf '%s\\n' tiny_words >> requirements.txt"
    assert refused.code == 1 and "failed (import): ModuleNotFoundError: No module named 'tiny_words'" in refused.stderr
    assert f"  fix: {keep} (it could not be installed for this run: --network none)" in refused.stderr

    ran = sandbox.milepost("start", str(project), **env)
    assert (ran.code, ran.stdout) == (0, "got it\n"), ran.stderr
    assert "installing tiny_words for this run only\nstarting again\n" in ran.stderr
    assert ran.stderr.endswith(f"  to keep what was installed: {keep}\n")
    assert {name.partition("/")[0] for name in names_in(project)} == {"main.py", "milepost.toml"}


def test_a_node_project_runs_with_its_packages_and_none_are_left_in_its_folder(sandbox: Sandbox, project: Path) -> None:
    package = {
        "type": "module",
        "scripts": {"start": "node app.js"},
        "dependencies": {"tiny": "file:vendored/tiny.tgz"},
    }
    code = "import tiny from 'tiny'\nconsole.log(typeof tiny, ...process.argv.slice(2))\n"
    write(project, {"package.json": json.dumps(package), "app.js": code, "vendored/tiny.tgz": tarball("tiny", "1.0.0")})

    ran = sandbox.milepost("start", str(project), "--", "--port", "1")

    assert ran.code == 0 and ran.stdout.splitlines()[-1].endswith(" --port 1"), (ran.stdout, ran.stderr)
    assert "starting start: package script in package.json" in ran.stderr
    assert not (project / "node_modules").exists()


CLASSES = [
    (
        "import no_such_thing\nprint(1)",
        (),
        "import",
        "ModuleNotFoundError: No module named",
        "approve it with [repair] packages",
    ),
    ("x = = 3", (), "syntax", "SyntaxError: invalid syntax", "correct the syntax in main.py, line 1"),
    ("print('so far')\n{}['a']", (), "runtime", "KeyError: 'a'", "correct the error in main.py, line 2"),
    ("open('/etc/x-y', 'w')", (), "permission", "", "keep its files below app/"),
    ("while True: pass", ("--timeout", "1"), "timeout", "ran longer than its timeout", "--timeout SECONDS"),
    ("import sys; sys.exit(3)", (), "unknown", "exit code 3", "it raised no exception: read its output above"),
]


@pytest.mark.parametrize(("code", "words", "kind", "message", "fix"), CLASSES, ids=[row[2] for row in CLASSES])
def test_each_class_of_failure_is_named_with_what_to_do(
    sandbox: Sandbox, project: Path, code: str, words: tuple[str, ...], kind: str, message: str, fix: str
) -> None:
    write(project, {"main.py": code})

    ran = sandbox.milepost("start", str(project), *words)

    failed, proposed = ran.stderr.splitlines()[-2:]
    assert ran.code == 1
    assert failed.startswith(f"failed ({kind}): {message}")
    assert proposed.startswith("  fix: ") and fix in proposed


def test_ctrl_c_stops_a_program_that_never_ends(sandbox: Sandbox, project: Path) -> None:
    write(project, {"main.py": "import sys, time\nprint('ready')\nwhile True:\n    time.sleep(1)\n"})
    mark = f"never-ending-{os.getpid()}"
    with sandbox.start("start", str(project), "--", mark) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        assert running(mark)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0 and stderr.endswith("stopped\n"), stderr
    deadline = time.monotonic() + 30
    while running(mark):
        assert time.monotonic() < deadline, "the program is still there"
        time.sleep(0.05)


def running(mark: str) -> bool:
    """Whether a Python program with this argument runs, in whatever sandbox."""
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = cmdline.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words and any(b"exception_report.py" in word for word in words):
            return True
    return False


def test_the_list_and_its_json_name_every_entry_point(sandbox: Sandbox, project: Path) -> None:
    write(
        project,
        {"pyproject.toml": '[project.scripts]\nshop = "shop:run"\n', "shop/__main__.py": "", "shop/__init__.py": ""},
    )

    listed = sandbox.milepost("start", str(project), "--list")
    assert (listed.code, listed.stdout.splitlines()) == (
        0,
        [
            "* pyproject.toml:shop    console script in pyproject.toml",
            "  shop/__main__.py:shop  package with shop/__main__.py",
        ],
    )
    told = sandbox.milepost("start", str(project), "--json", "--entry", "shop/__main__.py:shop").json
    assert told["entry"] == {"name": "shop", "source": "shop/__main__.py"}
    assert (told["result"]["exit_code"], told["failure"], told["stopped"]) == (0, None, False)


def test_bad_input_is_one_clear_line_and_starts_nothing(sandbox: Sandbox, project: Path) -> None:
    guard = "if __name__ == '__main__':\n    print('ran')\n"
    write(sandbox.home, {"outside.py": guard, "empty/README": "", "two/one.py": guard, "two/other.py": guard})
    (project / "link.py").symlink_to(sandbox.home / "outside.py")
    empty, two = str(sandbox.home / "empty"), str(sandbox.home / "two")
    for words, told in (
        ((empty,), f"error: no entry point found in {empty!r}"),
        ((str(project),), f"error: no entry point found in {str(project)!r}"),
        ((str(project), "--entry", "link.py"), "error: 'link.py' points outside of the project"),
        ((str(sandbox.home / "nowhere"),), "error: there is no folder"),
        ((str(sandbox.home / "outside.py"),), "error: there is no folder"),
        ((two,), "error: several entry points: one, other"),
        ((two, "--entry", "three"), "error: there is no entry point 'three'"),
        ((two, "--entry", "one", "--trust", "bogus"), "error: there is no trust level 'bogus'"),
        ((two, "and-more"), "error: 'and-more' is one word too many"),
    ):
        refused = sandbox.milepost("start", *words)
        assert (refused.code, refused.stdout) == (2, ""), (words, refused)
        assert refused.stderr.splitlines()[0].startswith(told), (words, refused.stderr)
        assert len(refused.stderr.splitlines()) <= 2
