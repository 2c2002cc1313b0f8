"""Entry points in the sandbox: in three languages, with the class of a failure from the exception itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.commands import TrustLevel
from milepost.sandbox.levels import open_terminal
from milepost.sandbox.scripts import EntryRunner, ScriptResult, entry_named, entry_points, run_with_fixes
from milepost.sandbox.scripts.failure import failure_of
from milepost.sandbox.terminal import WalledTerminal


@pytest.fixture(scope="module")
def terminal() -> Iterator[WalledTerminal]:
    with open_terminal(TrustLevel.ISOLATED) as opened:
        yield opened


@pytest.fixture
def runner(terminal: WalledTerminal, tmp_path: Path) -> EntryRunner:
    (tmp_path / "work").mkdir()
    return EntryRunner(terminal=terminal, folder=tmp_path / "work", scratch=tmp_path / "scratch")


def ran(runner: EntryRunner, code: str, name: str = "a.py") -> ScriptResult:
    """How a file with this text ends."""
    (runner.folder / name).write_text(code)
    return runner.run(entry_named(runner.folder, (), name))


FAILING: list[tuple[str, str, str, str, str]] = [
    ("a.py", "import no_such_thing.part", "import", "ModuleNotFoundError", "no_such_thing"),
    ("a.py", "from os import no_such_name", "import", "ImportError", ""),
    ("a.py", "x = = 3", "syntax", "SyntaxError", ""),
    ("a.py", "  x = 3", "syntax", "IndentationError", ""),
    ("a.py", "def f():\n    return {}['a']\nf()", "runtime", "KeyError", ""),
    ("a.py", "open('/etc/milepost-test', 'w')", "permission", "PermissionError", ""),
    ("a.py", "raise TimeoutError('too slow')", "timeout", "TimeoutError", ""),
    ("a.py", "class Odd(ValueError): pass\nraise Odd('x')", "runtime", "Odd", ""),
    ("a.py", "import sys; sys.exit(3)", "unknown", "", ""),
    ("a.py", "print('ImportError: No module named x'); import os; os._exit(4)", "unknown", "", ""),
    ("a.mjs", "import x from 'no-such-thing/part'", "import", "Error", "no-such-thing"),
    ("a.mjs", "import x from '@no/such'", "import", "Error", "@no/such"),
    ("a.mjs", "import x from './nope.mjs'", "import", "Error", ""),
    ("a.mjs", "let = = 3", "syntax", "SyntaxError", ""),
    ("a.mjs", "null.x", "runtime", "TypeError", ""),
    ("a.mjs", "await Promise.reject(new RangeError('r'))", "runtime", "RangeError", ""),
    ("a.mjs", "import fs from 'fs'; fs.writeFileSync('/etc/x-y', '')", "permission", "Error", ""),
    ("a.mjs", "throw 'only words'", "runtime", "string", ""),
    ("a.mjs", "process.exit(3)", "unknown", "", ""),
    ("a.ts", "import x from './nope.ts'", "import", "", ""),
    ("a.ts", "import x from 'lodash'", "import", "", "lodash"),
    ("a.ts", "let = = 3", "syntax", "SyntaxError", ""),
    ("a.ts", "const a: any = null; a.x", "runtime", "TypeError", ""),
    ("a.ts", "await Deno.writeTextFile('/etc/x-y', '')", "permission", "PermissionDenied", ""),
    ("a.ts", "setTimeout(() => { throw new RangeError('late') }, 1)", "runtime", "RangeError", ""),
]


@pytest.mark.parametrize(("file", "code", "kind", "name", "missing"), FAILING, ids=[row[1] for row in FAILING])
def test_a_failure_has_the_class_of_its_exception(
    runner: EntryRunner, file: str, code: str, kind: str, name: str, missing: str
) -> None:
    ended = ran(runner, code, file)
    assert ended.failure is not None, ended
    assert (ended.failure.kind, ended.failure.type, ended.failure.missing) == (kind, name, missing), ended
    assert ended.failure.message
    assert kind == "unknown" or ended.failure.traceback
    assert list(runner.scratch.glob("script-*")) == [], "nothing is left"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.py", "import sys\nif __name__ == '__main__':\n    print('ran', *sys.argv[1:], beside())"),
        ("a.cjs", "console.log('ran', ...process.argv.slice(2), require('./beside.cjs'))"),
        (
            "a.ts",
            "import x from './beside.ts'; const n: string[] = Deno.args\n"
            "if (import.meta.main) console.log('ran', ...n, x)",
        ),
    ],
)
def test_a_file_runs_as_it_does_by_itself(runner: EntryRunner, name: str, code: str) -> None:
    (runner.folder / "beside.cjs").write_text("module.exports = 'beside'")
    (runner.folder / "beside.ts").write_text("export default 'beside'")
    (runner.folder / "beside.py").write_text("def beside():\n    return 'beside'\n")
    text = f"from beside import beside\n{code}" if name.endswith(".py") else code
    (runner.folder / name).write_text(text)
    heard: list[str] = []
    entry = entry_named(runner.folder, (), name)
    ended = runner.run(entry, ("one", "two"), on_line=lambda line: heard.append(line.text))
    assert ended.succeeded, ended
    assert ended.result.stdout == "ran one two beside\n" and heard == ["ran one two beside"]


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "def inner():\n    raise KeyError('k')\n\nif __name__ == '__main__':\n    inner()\n"},
        {"a/__init__.py": "", "a/__main__.py": "def inner():\n    raise KeyError('k')\n\n\ninner()\n"},
    ],
    ids=["file", "module"],
)
def test_the_traceback_has_only_the_programs_own_frames(runner: EntryRunner, files: dict[str, str]) -> None:
    (entry,) = entry_points(written(runner.folder, files))
    ended = runner.run(entry)
    assert ended.failure is not None
    assert ended.failure.traceback == ended.result.stderr
    assert ended.failure.traceback.startswith("Traceback (most recent call last):\n  File")
    assert "exception_report" not in ended.failure.traceback and "runpy" not in ended.failure.traceback
    assert "line 5, in <module>" in ended.failure.traceback


def test_a_program_that_runs_longer_than_its_timeout_is_ended(runner: EntryRunner) -> None:
    code = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"
    ended = ran(replace(runner, timeout_s=0.5), code)
    assert ended.failure is not None and ended.failure.kind == "timeout"


def test_the_child_of_npm_reports_its_exception(runner: EntryRunner) -> None:
    files = {"package.json": '{"scripts": {"start": "node a.cjs"}}', "a.cjs": "require('no-such-thing')"}
    (entry,) = entry_points(written(runner.folder, files))
    ended = runner.run(entry)
    assert ended.failure is not None, ended
    assert (ended.failure.kind, ended.failure.missing) == ("import", "no-such-thing"), ended


def test_a_malformed_report_is_not_believed(runner: EntryRunner) -> None:
    secret = {"names": ["KeyError"], "message": "secret", "traceback": ""}
    (runner.folder / "report.json").write_text(json.dumps(secret))
    make = "import os; p = os.environ['MILEPOST_REPORT']; {}; os._exit(1)"
    for trick in (
        "os.symlink('/etc/passwd', p)",
        "os.mkfifo(p)",
        "os.mkdir(p)",
        "d = os.path.dirname(p); os.rename(d, d + 'x'); os.symlink(os.getcwd(), d)",
        "open(p, 'w').write('[' * 100000)",
        "open(p, 'w').write('{\"names\": 3, \"message\": null}')",
        "open(p, 'wb').write(b'\\xff' * 10)",
    ):
        ended = ran(runner, make.format(trick))
        assert ended.failure is not None and ended.failure.kind == "unknown", (trick, ended)


def test_a_missing_package_is_installed_and_the_program_runs_again_within_a_limit(runner: EntryRunner) -> None:
    code = "import one_x, two_x\nprint('ok')"
    asked: list[str] = []

    def install(package: str) -> bool:
        asked.append(package)
        (runner.folder / f"{package}.py").write_text("")
        return True

    limited = run_with_fixes(lambda: ran(runner, code), install, most=1)
    assert (limited.succeeded, limited.installed) == (False, ("one_x",))
    assert limited.failure is not None and limited.failure.missing == "two_x"
    done = run_with_fixes(lambda: ran(runner, code), install)
    assert (done.result.stdout, done.installed, asked) == ("ok\n", ("two_x",), ["one_x", "two_x"])


def test_an_installer_that_refuses_or_does_not_help_ends_it(runner: EntryRunner) -> None:
    assert run_with_fixes(lambda: ran(runner, "import lacking_x"), lambda _: False).installed == ()
    useless = run_with_fixes(lambda: ran(runner, "import lacking_x"), lambda _: True)
    assert (useless.succeeded, useless.installed) == (False, ("lacking_x",)), "it is asked for once"


@pytest.mark.parametrize("name", ["--index-url=http://x.example", "../up", "a b", "-e .", "", "$(x)", "a;b"])
def test_a_name_that_could_be_no_package_is_never_given_to_an_installer(runner: EntryRunner, name: str) -> None:
    ended = ran(runner, f"raise ModuleNotFoundError('no', name={name!r})")
    assert ended.failure is not None and (ended.failure.kind, ended.failure.missing) == ("import", "")


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_every_entry_point_of_a_python_project_can_be_started(runner: EntryRunner) -> None:
    folder = written(
        runner.folder,
        {
            "pyproject.toml": '[project.scripts]\nshop = "shop.cli:run"\n',
            "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    old = tool:main\n",
            "src/shop/__init__.py": "",
            "src/shop/cli.py": "def run():\n    print('shop')\n",
            "src/shop/__main__.py": "print('module')\n",
            "tool.py": "def main():\n    print('tool')\n    return 0\n",
            "serve.py": "if '__main__' == __name__:\n    print('serve')\n",
            "later.py": "import asyncio\nasync def main(x=1):\n    print('later')\n",
            "calls.py": "def main():\n    print('calls')\nraise SystemExit(main())\n",
        },
    )
    ended = {(entry.way, entry.name): runner.run(entry) for entry in entry_points(folder)}
    assert {key: one.result.stdout for key, one in ended.items() if one.succeeded} == {
        ("console script", "shop"): "shop\n",
        ("console script", "old"): "tool\n",
        ("module", "shop"): "module\n",
        ("main call", "calls"): "calls\n",
        ("main function", "later"): "later\n",
        ("main guard", "serve"): "serve\n",
        ("main function", "tool"): "tool\n",
    }, ended


def test_a_program_that_succeeded_has_no_failure_whatever_it_reported(runner: EntryRunner) -> None:
    ended = ran(runner, "print('fine')")
    assert ended.succeeded and failure_of(ended.result, '{"names": ["KeyError"]}') is None
