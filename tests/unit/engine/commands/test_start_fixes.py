"""What `milepost start` proposes for a program that failed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from milepost.cli.start import folder_and_arguments
from milepost.core.commands import CommandResult, Termination
from milepost.core.errors import Misuse
from milepost.engine.commands.start_fixes import ProjectFacts, fix_for, keep_packages
from milepost.repair.packages import Package, Unknown
from milepost.sandbox.scripts import ScriptFailure

FACTS = ProjectFacts(folder=Path("/p/shop"), language="python")
ENDED = CommandResult(termination="exited", exit_code=1, stdout="", stderr="", duration_ms=1, enforced=())
FAILURE = ScriptFailure(kind="runtime", type="KeyError", message="'a'")
PACKAGE = Package(name="requests", requirement="requests>=2")


@pytest.mark.parametrize(
    ("language", "files", "venv", "command"),
    [
        ("python", "", "", "printf '%s\\n' requests >> requirements.txt"),
        ("python", "pyproject.toml requirements.txt", "", "printf '%s\\n' requests >> requirements.txt"),
        ("python", "pyproject.toml", "", 'add "requests" to dependencies of [project] in pyproject.toml'),
        (
            "python",
            "pyproject.toml",
            ".venv",
            ".venv/bin/python -m pip install requests, "
            'and add "requests" to dependencies of [project] in pyproject.toml',
        ),
        (
            "python",
            "",
            "venv",
            "venv/bin/python -m pip install requests && printf '%s\\n' requests >> requirements.txt",
        ),
        ("python", "pyproject.toml uv.lock", ".venv", "uv add requests"),
        ("python", "pyproject.toml poetry.lock", "", "poetry add requests"),
        ("python", "Pipfile", "", "pipenv install requests"),
        ("node", "package.json", "", "npm install requests"),
        ("node", "package.json yarn.lock", "", "yarn add requests"),
        ("node", "package.json pnpm-lock.yaml", "", "pnpm add requests"),
    ],
)
def test_a_package_is_kept_with_the_tool_of_the_project(language: str, files: str, venv: str, command: str) -> None:
    facts = replace(FACTS, language=language, files=frozenset(files.split()), venv=venv)
    assert keep_packages(["requests"], facts) == command


def test_a_requirement_is_quoted_for_the_shell() -> None:
    assert keep_packages(["requests>=2; x"], FACTS) == "printf '%s\\n' 'requests>=2; x' >> requirements.txt"


def test_an_import_is_fixed_by_its_package_where_that_is_known() -> None:
    failure = replace(FAILURE, kind="import", traceback='  File "/p/shop/a.py", line 3, in <module>')
    known = fix_for(failure, ENDED, FACTS, PACKAGE, "pip exit 1: no such package")
    assert known.endswith(
        "'requests>=2' >> requirements.txt (it could not be installed for this run: pip exit 1: no such package)"
    )
    assert "approve it with [repair] packages" in fix_for(failure, ENDED, FACTS, Unknown(name="reqests"), "")
    assert fix_for(failure, ENDED, FACTS, None, "") == "correct the import in a.py, line 3"


@pytest.mark.parametrize(
    ("traceback", "place"),
    [
        ('File "main.py", line 1, in <module>\nFile "lib/a.py", line 7, in f', " in lib/a.py, line 7"),
        ('File "/p/shop/a.py", line 2\nFile "/usr/lib/python3/json.py", line 9', " in a.py, line 2"),
        ('File "/p/shop/a.py", line 2\nFile "/p/shop/.venv/lib/x.py", line 9', " in a.py, line 2"),
        (
            "TypeError: x\n    at f (/p/shop/node_modules/x/i.js:1:1)\n    at file:///p/shop/a.mjs:4:8",
            " in a.mjs, line 4",
        ),
    ],
)
def test_the_place_is_the_last_one_in_the_projects_own_files(traceback: str, place: str) -> None:
    assert fix_for(replace(FAILURE, traceback=traceback), ENDED, FACTS, None, "") == f"correct the error{place}"


def test_an_error_without_a_place_in_the_project_is_read_by_a_person() -> None:
    elsewhere = replace(FAILURE, traceback='File "/usr/lib/python3/json.py", line 9')
    assert fix_for(elsewhere, ENDED, FACTS, None, "") == "read the error above"


def test_a_blocked_host_is_named_for_the_network_option() -> None:
    ended = replace(ENDED, refused=("host example.org:443", "connect 10.0.0.1:8443"))
    assert fix_for(FAILURE, ended, FACTS, None, "").endswith("as --network 10.0.0.1:8443,example.org")


@pytest.mark.parametrize("networked", [False, True])
def test_a_missing_network_is_blamed_only_where_the_sandbox_limits_it(networked: bool) -> None:
    failure = replace(FAILURE, message="<urlopen error [Errno -3] Temporary failure in name resolution>")
    fix = fix_for(failure, ENDED, replace(FACTS, networked=networked), None, "")
    assert ("--network" in fix) is not networked


def test_a_path_outside_may_be_made_readable_and_one_inside_is_the_programs_own_matter() -> None:
    outside = replace(FAILURE, kind="permission", message="[Errno 13] Permission denied: '/etc/shadow'")
    assert 'readable = ["/etc/shadow"]' in fix_for(outside, ENDED, FACTS, None, "")
    inside = replace(outside, message="[Errno 13] Permission denied: '/p/shop/locked'")
    assert fix_for(inside, ENDED, FACTS, None, "") == "avoid what is not permitted"


@pytest.mark.parametrize(
    ("kind", "termination", "problem", "says"),
    [
        ("timeout", "timeout", "", "--timeout SECONDS"),
        ("timeout", "exited", "", "look at what it waits for"),
        ("unknown", "not_started", "", "install the program that is missing"),
        ("unknown", "memory", "", "raise memory_mb of [sandbox]"),
        ("unknown", "exited", "", "read its output above"),
        ("unknown", "exited", "npm exit 1: not found", "install the project's dependencies: npm exit 1: not found"),
    ],
)
def test_an_end_without_an_exception_has_a_fix_too(
    kind: str, termination: Termination, problem: str, says: str
) -> None:
    failure = replace(FAILURE, kind=kind)  # type: ignore[arg-type]
    assert says in fix_for(failure, replace(ENDED, termination=termination), FACTS, None, problem)


@pytest.mark.parametrize(
    ("argv", "words", "folder", "arguments"),
    [
        ("start", "", None, []),
        ("start here", "here", Path("here"), []),
        ("start -- --port 3", "--port 3", None, ["--port", "3"]),
        ("start here -- a", "here a", Path("here"), ["a"]),
        ("start here -- a -- b", "here a -- b", Path("here"), ["a", "--", "b"]),
        ("start here --", "here", Path("here"), []),
    ],
)
def test_arguments_of_the_program_follow_the_two_dashes(
    argv: str, words: str, folder: Path | None, arguments: list[str]
) -> None:
    assert folder_and_arguments(words.split(), argv.split()) == (folder, arguments)


def test_a_second_folder_is_refused() -> None:
    with pytest.raises(Misuse, match="'b' is one word too many"):
        folder_and_arguments(["a", "b"], ["start", "a", "b"])
