"""What verification costs: reading a report, and running the tests as the engine runs them.

    python benchmarks/verify.py [ROUNDS]
    python benchmarks/verify.py --suite [--sizes SECONDS …]

(a) A JUnit report of 1,000 results, some of them failures with a traceback: what our reader takes, and what
ElementTree's bare parse of the same text takes. (b) A suite of a few seconds: the engine's tests check in the sandbox,
which watches the runner, plants tests that must fail and reads what was witnessed, against plain `python -m pytest -q`
in the same checkout. The two are interleaved, several rounds each; printed are medians, and their ratio.
(c) With `--suite`: a whole run in a repository whose tests sleep for some seconds (20, 60 and 190 unless told), three
tasks that change the product alone. Each task's time from the start of its attempt to its end is fitted as a + b · T:
b says how many runs of the suite a task costs, the first of a run, the second, and one whose line names one file.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from measuring import Row, answers, arguments, interleaved, make_repo, tell

from milepost.core.attempt import Workspace
from milepost.sandbox.levels import open_terminal, strongest
from milepost.verify.checks.tests import state_of
from milepost.verify.command_runner import Bench
from milepost.verify.suites import junit
from milepost.verify.suites.python_project import find_interpreter
from milepost.verify.trees import Tree

RESULTS = 1_000
PARSES = 20
FILES, TESTS, SECONDS_A_TEST = 10, 30, 0.01
SUITE = """\
import time

import pytest


@pytest.mark.parametrize("number", range({tests}))
def test_work(number):
    end = time.perf_counter() + {seconds}
    while time.perf_counter() < end:
        sum(range(1000))
    assert number * 2 == number + number
"""
AGENT = """\
import re
import sys

name = re.search(r"Mend (\\w+)", sys.stdin.read())[1]
open(f"{name}.py", "w").write(f"def {name}():\\n    return len(str({name}.__name__))\\n")
"""


def main() -> None:
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("--suite", action="store_true")
    parser.add_argument("--sizes", type=float, nargs="*", default=[20.0, 60.0, 190.0])
    asked = answers(parser)
    if asked.suite:
        show_suite([0.2] if asked.smoke else asked.sizes)
        return
    show_parse()
    with tempfile.TemporaryDirectory() as folder:
        show_overhead(Path(folder), asked.rounds, 1 if asked.smoke else FILES)


def show_suite(sizes: list[float]) -> None:
    """How many runs of the suite a task costs."""
    names = ("first task, Verify: pytest", "second task, Verify: pytest", "third, Verify names one file")
    times = [task_times(seconds) for seconds in sizes]
    for seconds, took in zip(sizes, times, strict=True):
        print(f"suite of {seconds:5.0f} s: " + ", ".join(f"{each:6.1f} s" for each in took))
    for at, name in enumerate(names if len(sizes) > 1 else ()):
        b, a = statistics.linear_regression(sizes, [took[at] for took in times])
        print(f"{name:32} {a:5.1f} s + {b:4.2f} · T")


def task_times(seconds: float) -> list[float]:
    """What each of three tasks took in one run, from its start to its end."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("MILEPOST_BENCH_FOLDER")) as folder:
        repo, home = Path(folder) / "repo", Path(folder) / "home"
        home.mkdir()
        make_sleeping(repo, seconds)
        agent = Path(folder) / "agent.py"
        agent.write_text(AGENT)
        command = [sys.executable, "-m", "milepost", "run", "--json", "--memory", "off"]
        command += ["--agent", f"command:{sys.executable} {agent}"]
        env = {**os.environ, "HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        subprocess.run(command, cwd=repo, env=env, stdout=subprocess.DEVNULL, check=False)
        told = [sys.executable, "-m", "milepost", "events", "--json"]
        done = subprocess.run(told, cwd=repo, env=env, stdout=subprocess.PIPE, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    began = {
        event["task"]: event["at"] for event in events if event["event"] == "stage_started" and event["stage"] == "act"
    }
    ended = {event["task"]: event for event in events if event["event"] == "task_finished"}
    assert all(event["verdict"] == "passed" for event in ended.values()), {k: v["reason"] for k, v in ended.items()}
    return [ended[task]["at"] - began[task] for task in sorted(ended)]


def make_sleeping(repo: Path, seconds: float) -> None:
    """One gap with a test, two functions to write otherwise, and tests that sleep."""
    files = {"milepost.toml": "[run]\nparallel = 1\n\n[verify]\nreruns = 0\n"}
    for name in ("one", "two", "three"):
        files[f"{name}.py"] = f"def {name}():\n    return {0 if name == 'one' else len(name)}\n"
        test = f"from {name} import {name}\n\n\ndef test_{name}():\n    assert {name}() == len('{name}')\n"
        files[f"tests/test_{name}.py"] = test
    sleeps = "import time\n\nimport pytest\n\n\n@pytest.mark.parametrize('n', range(20))\n"
    sleeps += f"def test_sleeps(n):\n    time.sleep({seconds / 20})\n"
    files["tests/test_sleeps.py"] = sleeps
    lines = ("pytest", "pytest", "pytest tests/test_three.py")
    tasks = zip(("one", "two", "three"), lines, strict=True)
    roadmap = "".join(
        f"- [ ] 1.{number} Mend {name}\n  - Files: {name}.py\n  - Verify: `{line}`\n"
        + ("  - Behaviour: same\n" if number > 1 else "")
        for number, (name, line) in enumerate(tasks, 1)
    )
    make_repo(repo, {**files, "ROADMAP.md": f"# Roadmap\n\n{roadmap}"})


def show_parse() -> None:
    text = report_of(RESULTS)
    assert len(junit.parse(text)) == RESULTS
    taken = interleaved({"ours": lambda: junit.parse(text), "bare": lambda: ElementTree.fromstring(text)}, PARSES)
    print(f"a JUnit report of {len(text) // 1024} kB; ElementTree alone reads it in {taken['bare'] * 1000:.1f} ms")
    tell(Row(what=f"reading a report of {RESULTS} results", now=taken["ours"] * 1000, goal=100))


def show_overhead(folder: Path, rounds: int, files: int) -> None:
    checkout = make_checkout(folder / "checkout", files)
    with open_terminal(strongest()) as terminal:
        interpreter = find_interpreter(checkout, os.environ, sys.executable)
        bench = Bench(terminal=terminal, interpreter=interpreter)

        def check() -> None:
            workspace = Workspace(folder=checkout, scratch=Path(tempfile.mkdtemp(dir=folder)), base="")
            result, _ = state_of(Tree(workspace=workspace, bench=bench))
            assert result.count("passed") == files * TESTS, result.summary

        ways: dict[str, Callable[[], object]] = {"plain": partial(run_plain, checkout), "checked": check}
        if rounds > 1:
            interleaved(ways, 1)  # fills the caches of both
        taken = {name: each * 1000 for name, each in interleaved(ways, rounds).items()}
    what = f"the tests check of {files * TESTS} tests, of pytest"
    tell(Row(what=what, now=taken["checked"], reference=taken["plain"], goal=1.15))


def report_of(results: int) -> str:
    """A report as pytest writes it: of ten results one failed and one was skipped."""
    cases = []
    for number in range(results):
        inside = ""
        if number % 10 == 0:
            trace = "\n".join(f"    line {line} of the function under test" for line in range(30))
            inside = (
                f'<failure message="AssertionError: assert {number} == 0">{trace}\nE   assert {number} == 0</failure>'
            )
        elif number % 10 == 1:
            inside = '<skipped type="pytest.skip" message="not here">tests/test_it.py:3: not here</skipped>'
        name = f'classname="tests.test_it.TestThings" name="test_thing[{number}]"'
        cases.append(f'<testcase {name} file="tests/test_it.py" line="{number}" time="0.001">{inside}</testcase>')
    suite = f'<testsuite name="pytest" errors="0" tests="{results}" time="1.0">{"".join(cases)}</testsuite>'
    return f'<?xml version="1.0" encoding="utf-8"?><testsuites>{suite}</testsuites>'


def make_checkout(folder: Path, files: int) -> Path:
    (folder / "tests").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for number in range(files):
        text = SUITE.format(tests=TESTS, seconds=SECONDS_A_TEST)
        (folder / "tests" / f"test_part_{number}.py").write_text(text)
    return folder


def run_plain(checkout: Path) -> None:
    subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=checkout, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
