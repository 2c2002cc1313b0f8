"""What others read of a run, from the command line: its events as they happen, and its report at any time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from tests import places
from tests.e2e.conftest import Sandbox
from tests.slow import slow

SECRET = "sk-abcdefghijklmnopqrstuvwx"
TWO = (
    "# Roadmap\n\n- [ ] 1.1 Write <b>it</b>\n  - write a.txt hello\n  - Verify: grep -q hello a.txt\n"
    f"- [ ] 1.2 Leak a key\n  - write b.txt {SECRET}\n  - Verify: false\n"
    "- [ ] 1.3 After that\n  - Depends on: 1.2\n  - Verify: true\n"
)


def test_a_run_is_told_whole_in_events_page_markdown_and_log(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.roadmap(TWO)
    assert sandbox.run().code == 1
    head = sandbox.git("rev-parse", "HEAD")
    page, words = tmp_path / "report.html", tmp_path / "report.md"
    answer = sandbox.milepost("report", "--html", str(page), "--markdown", str(words))
    assert answer.code == 0, answer.stderr
    html, markdown = page.read_text(), words.read_text()
    for text in (html, markdown):
        assert head[:7] in text and "grep -q hello a.txt" in text
        assert SECRET not in text, "a secret that an agent wrote is not shown"
        assert "<b>it</b>" not in text
    assert "+hello" in html and "1.3 After that" in html
    assert ">1<small> of 3 tasks<" in html and "1 of 3 tasks" in markdown
    assert sandbox.milepost("report").stdout.split() == [
        f".milepost/reports/{run_of(sandbox)}.{end}" for end in ("html", "md")
    ]
    assert sandbox.git("status", "--porcelain") == "", "looking leaves nothing in the user's tree"

    told = sandbox.milepost("events", "--json").events
    seqs = [event["seq"] for event in told]
    assert seqs == sorted(set(seqs)) and {event["version"] for event in told} == {1}
    assert (told[0]["event"], told[-1]["event"]) == ("run_started", "run_finished")
    rest = sandbox.milepost("events", "--json", "--after", str(seqs[4])).events
    assert rest == told[5:]
    words_of_events = " ".join(sandbox.argv("events"))
    cut = subprocess.run(
        ["sh", "-c", f"{words_of_events} | head -n 1"], cwd=sandbox.repo, env=sandbox.environment, capture_output=True
    )
    assert b"run" in cut.stdout and cut.stderr == b"", "whoever stops reading ends the stream quietly"

    log = places.state(sandbox.repo) / f"logs/{told[0]['run']}.jsonl"
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert {line["event"] for line in logged} >= {event["event"] for event in told}
    assert SECRET not in log.read_text()


def test_where_nothing_was_run_and_where_the_run_is_unknown_that_is_said(sandbox: Sandbox) -> None:
    sandbox.roadmap(TWO)
    assert "no runs here yet" in sandbox.milepost("report").stdout
    assert "No runs here yet" in sandbox.milepost("report", "--html", "-").stdout
    assert sandbox.milepost("events", "--json").stdout == ""
    assert not places.state(sandbox.repo).exists(), "looking makes no state directory"
    unknown = sandbox.milepost("report", "--run", "beef")
    assert (unknown.code, unknown.stdout) == (2, "") and "no run 'beef'" in unknown.stderr
    no_folder = sandbox.milepost("report", "--html", "no/such/folder.html")
    assert no_folder.code == 1 and "could not write the report" in no_folder.stderr


@slow
def test_a_run_is_followed_and_reported_over_a_crash(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Slow\n  - write a.txt hello\n  - sleep 600\n  - Verify: grep -q hello a.txt\n")
    engine = sandbox.start("run", "--agent", sandbox.agent)
    wait_for_event(sandbox, "agent_said")
    follower = sandbox.start("events", "--follow", "--json")
    running = sandbox.milepost("report", "--html", "-").stdout
    assert ">running<" in running and "so far" in running
    os.killpg(engine.pid, signal.SIGKILL)
    engine.communicate()
    page = sandbox.milepost("report", "--html", "-").stdout
    assert ">interrupted<" in page and "milepost resume" in page and "so far" not in page
    Path(sandbox.agent.split()[-1]).write_text("import pathlib; pathlib.Path('a.txt').write_text('hello\\n')\n")
    assert sandbox.milepost("resume").code == 0
    told, _ = follower.communicate(timeout=60)
    events = [json.loads(line) for line in told.splitlines()]
    assert events[-1]["event"] == "run_finished", "whoever follows is told the end, and then let go"
    assert [event["event"] for event in events].count("task_finished") == 1
    assert ">finished<" in sandbox.milepost("report", "--html", "-").stdout


def run_of(sandbox: Sandbox) -> str:
    run: str = sandbox.milepost("status", "--json").json["run"]
    return run


def wait_for_event(sandbox: Sandbox, kind: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if any(event["event"] == kind for event in sandbox.milepost("events", "--json").events):
            return
        time.sleep(0.1)
    raise AssertionError(f"no {kind} came")
