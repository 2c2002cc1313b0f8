"""Scripts in the sandbox: in three languages, with the reason of a failure from the exception itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.commands import Command, TrustLevel
from milepost.core.errors import Misuse
from milepost.sandbox.levels import open_terminal
from milepost.sandbox.scripts import EntryPoint, Script, ScriptRunner, entry_points, script_file
from milepost.sandbox.scripts.entry_points import python_entry
from milepost.sandbox.scripts.failure import failure_of
from milepost.sandbox.scripts.script import Language
from milepost.sandbox.terminal import WalledTerminal


@pytest.fixture(scope="module")
def terminal() -> Iterator[WalledTerminal]:
    with open_terminal(TrustLevel.ISOLATED) as opened:
        yield opened


@pytest.fixture
def runner(terminal: WalledTerminal, tmp_path: Path) -> ScriptRunner:
    (tmp_path / "work").mkdir()
    return ScriptRunner(
        terminal=terminal, folder=tmp_path / "work", scratch=tmp_path / "scratch", python=sys.executable, timeout_s=60
    )


FAILING: list[tuple[Language, str, str, str, str]] = [
    ("python", "import no_such_thing.part", "import", "ModuleNotFoundError", "no_such_thing"),
    ("python", "from os import no_such_name", "import", "ImportError", ""),
    ("python", "x = = 3", "syntax", "SyntaxError", ""),
    ("python", "  x = 3", "syntax", "IndentationError", ""),
    ("python", "def f():\n    return {}['a']\nf()", "runtime", "KeyError", ""),
    ("python", "open('/etc/milepost-test', 'w')", "permission", "PermissionError", ""),
    ("python", "raise TimeoutError('too slow')", "timeout", "TimeoutError", ""),
    ("python", "class Odd(ValueError): pass\nraise Odd('x')", "runtime", "Odd", ""),
    ("python", "import sys; sys.exit(3)", "unknown", "", ""),
    ("python", "print('ImportError: No module named x'); import os; os._exit(4)", "unknown", "", ""),
    ("javascript", "import x from 'no-such-thing/part'", "import", "Error", "no-such-thing"),
    ("javascript", "import x from '@no/such'", "import", "Error", "@no/such"),
    ("javascript", "import x from './nope.mjs'", "import", "Error", ""),
    ("javascript", "let = = 3", "syntax", "SyntaxError", ""),
    ("javascript", "null.x", "runtime", "TypeError", ""),
    ("javascript", "await Promise.reject(new RangeError('r'))", "runtime", "RangeError", ""),
    ("javascript", "import fs from 'fs'; fs.writeFileSync('/etc/x-y', '')", "permission", "Error", ""),
    ("javascript", "throw 'only words'", "runtime", "string", ""),
    ("javascript", "process.exit(3)", "unknown", "", ""),
    ("typescript", "import x from './nope.ts'", "import", "", ""),
    ("typescript", "import x from 'lodash'", "import", "", "lodash"),
    ("typescript", "let = = 3", "syntax", "SyntaxError", ""),
    ("typescript", "const a: any = null; a.x", "runtime", "TypeError", ""),
    ("typescript", "await Deno.readTextFile('/etc/passwd')", "permission", "NotCapable", ""),
    ("typescript", "setTimeout(() => { throw new RangeError('late') }, 1)", "runtime", "RangeError", ""),
]


@pytest.mark.parametrize(("language", "code", "kind", "name", "missing"), FAILING, ids=[row[1] for row in FAILING])
def test_a_failure_has_the_class_of_its_exception(
    runner: ScriptRunner, language: Language, code: str, kind: str, name: str, missing: str
) -> None:
    ran = runner.run(Script(language=language, code=code))
    assert ran.failure is not None, ran
    assert (ran.failure.kind, ran.failure.type, ran.failure.missing) == (kind, name, missing), ran
    assert ran.failure.message
    assert kind == "unknown" or ran.failure.traceback
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
def test_a_file_runs_as_it_does_by_itself(runner: ScriptRunner, name: str, code: str) -> None:
    (runner.folder / "beside.cjs").write_text("module.exports = 'beside'")
    (runner.folder / "beside.ts").write_text("export default 'beside'")
    (runner.folder / "beside.py").write_text("def beside():\n    return 'beside'\n")
    text = f"from beside import beside\n{code}" if name.endswith(".py") else code
    (runner.folder / name).write_text(text)
    heard: list[str] = []
    ran = runner.run(script_file(Path(name), "one", "two"), on_line=lambda line: heard.append(line.text))
    assert ran.succeeded, ran
    assert ran.result.stdout == "ran one two beside\n" and heard == ["ran one two beside"]


def test_the_traceback_is_the_scripts_own_and_as_python_prints_it(runner: ScriptRunner) -> None:
    (runner.folder / "a.py").write_text("def inner():\n    raise KeyError('k')\n\ninner()\n")
    ran = runner.run(script_file(Path("a.py")))
    assert ran.failure is not None
    assert ran.failure.traceback == ran.result.stderr
    assert ran.failure.traceback.startswith("Traceback (most recent call last):\n  File")
    assert "confess" not in ran.failure.traceback and "line 4, in <module>" in ran.failure.traceback


def test_a_script_that_takes_too_long_is_ended_and_that_is_a_fact(runner: ScriptRunner) -> None:
    code = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"
    ran = replace(runner, timeout_s=0.5).run(Script(language="python", code=code))
    assert ran.failure is not None and ran.failure.kind == "timeout"


def test_a_script_cannot_make_the_reader_of_its_report_stumble(runner: ScriptRunner) -> None:
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
        ran = runner.run(Script(language="python", code=make.format(trick)))
        assert ran.failure is not None and ran.failure.kind == "unknown", (trick, ran)


def test_what_a_script_lacks_is_installed_and_it_runs_again_within_a_limit(runner: ScriptRunner) -> None:
    script = Script(language="python", code="import sys; sys.path.insert(0, '.')\nimport one_x, two_x\nprint('ok')")
    asked: list[str] = []

    def install(package: str) -> bool:
        asked.append(package)
        (runner.folder / f"{package}.py").write_text("")
        return True

    limited = runner.run_with_fixes(script, install, most=1)
    assert (limited.succeeded, limited.installed) == (False, ("one_x",))
    assert limited.failure is not None and limited.failure.missing == "two_x"
    done = runner.run_with_fixes(script, install)
    assert (done.result.stdout, done.installed, asked) == ("ok\n", ("two_x",), ["one_x", "two_x"])


def test_an_installer_that_refuses_or_does_not_help_ends_it(runner: ScriptRunner) -> None:
    script = Script(language="python", code="import lacking_x")
    assert runner.run_with_fixes(script, lambda _: False).installed == ()
    useless = runner.run_with_fixes(script, lambda _: True)
    assert (useless.succeeded, useless.installed) == (False, ("lacking_x",)), "it is asked for once"


@pytest.mark.parametrize("name", ["--index-url=http://x.example", "../up", "a b", "-e .", "", "$(x)", "a;b"])
def test_a_name_that_could_be_no_package_is_never_given_to_an_installer(runner: ScriptRunner, name: str) -> None:
    code = f"raise ModuleNotFoundError('no', name={name!r})"
    ran = runner.run(Script(language="python", code=code))
    assert ran.failure is not None and (ran.failure.kind, ran.failure.missing) == ("import", "")


def test_a_name_without_a_language_is_refused() -> None:
    with pytest.raises(Misuse, match="no script"):
        script_file(Path("notes.txt"))


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_every_way_to_start_a_python_project_is_found_and_works(runner: ScriptRunner) -> None:
    folder = written(
        runner.folder,
        {
            "pyproject.toml": '[project.scripts]\nshop = "shop.cli:run"\nodd = 3\n',
            "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    old = tool:main\n",
            "src/shop/__init__.py": "",
            "src/shop/cli.py": "def run():\n    print('shop')\n",
            "src/shop/__main__.py": "print('module')\n",
            "tool.py": "def main():\n    print('tool')\n    return 0\n",
            "serve.py": "if '__main__' == __name__:\n    print('serve')\n",
            "later.py": "import asyncio\nasync def main(x=1):\n    print('later')\n",
            "needs.py": "def main(argument):\n    pass\n",
            "plain.py": "x = 1\n",
            "broken.py": "def main(:\n",
        },
    )
    found = entry_points(folder)
    assert [(one.way, one.name, one.source) for one in found] == [
        ("console script", "shop", "pyproject.toml"),
        ("console script", "old", "setup.cfg"),
        ("module", "shop", "src/shop/__main__.py"),
        ("main function", "later", "later.py"),
        ("main guard", "serve", "serve.py"),
        ("main function", "tool", "tool.py"),
    ]
    assert [started(runner, one) for one in found] == ["shop", "tool", "module", "later", "serve", "tool"]


def started(runner: ScriptRunner, entry: EntryPoint) -> str:
    done = runner.terminal.run(Command(argv=entry.argv, cwd=runner.folder, scratch=runner.scratch))
    assert done.succeeded, done
    return done.stdout.strip()


def test_the_ways_to_start_projects_of_node_and_deno_are_found(tmp_path: Path) -> None:
    package = {"name": "@me/shop", "main": "index.js", "bin": "cli.js", "scripts": {"start": "x", "test": "y"}}
    written(tmp_path, {"package.json": json.dumps(package), "deno.json": '{"tasks": {"dev": "deno run a.ts"}}'})
    assert [(one.way, one.name, one.argv) for one in entry_points(tmp_path)] == [
        ("package script", "start", ("npm", "run", "start")),
        ("bin", "shop", ("node", "cli.js")),
        ("main file", "@me/shop", ("node", "index.js")),
        ("task", "dev", ("deno", "task", "dev")),
    ]


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000, '{"bin": 3, "scripts": [], "main": {}}', "\0"])
def test_files_that_make_no_sense_are_ways_to_start_nothing(tmp_path: Path, text: str) -> None:
    names = ("package.json", "deno.json", "pyproject.toml", "setup.cfg", "a.py")
    assert entry_points(written(tmp_path, dict.fromkeys(names, text))) == ()
    assert python_entry(text) is None


def test_a_script_that_succeeded_has_no_failure_whatever_it_wrote_down(runner: ScriptRunner) -> None:
    ran = runner.run(Script(language="python", code="print('fine')"))
    assert ran.succeeded and failure_of(ran.result, '{"names": ["KeyError"]}') is None
