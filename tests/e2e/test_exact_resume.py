"""A run that is killed in the middle of an attempt goes on after the last call that was answered."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from tests import places
from tests.e2e.conftest import Sandbox


def write(path: str, content: str) -> dict[str, object]:
    return {"name": "write_file", "arguments": {"path": path, "content": content}}


def command(*argv: str) -> dict[str, object]:
    return {"name": "execute", "arguments": {"argv": list(argv)}}


def cassette(sandbox: Sandbox, answers: list[dict[str, object]]) -> str:
    path = sandbox.home / "cassette.json"
    path.write_text(json.dumps({"version": 1, "answers": {"T1": [answers]}}))
    return f"replay:{path}"


def traced(path: Path) -> tuple[Counter[str], list[str]]:
    """How often each call was made, and those that were made after they had been recorded."""
    made: Counter[str] = Counter()
    recorded: set[str] = set()
    again = []
    for line in path.read_text().splitlines():
        what, _, name = line.partition(" ")
        if what == "made":
            made[name] += 1
            again += [name] if name in recorded else []
        else:
            recorded.add(name)
    return made, again


SESSIONS = """\
import json, os, pathlib, time
session = os.environ.get("MILEPOST_SESSION", "")
done = pathlib.Path("done.txt")
if not session:
    done.write_text("first half\\n")
    print(json.dumps({"session": "s-1"}), flush=True)
    time.sleep(600)
done.write_text(done.read_text() + f"second half of {session}\\n")
"""


def test_an_agent_with_sessions_of_its_own_goes_on_with_its_session_and_its_files(sandbox: Sandbox) -> None:
    sandbox.roadmap("# Roadmap\n\n- [ ] T1 Halves\n  - Verify: grep -q second done.txt\n")
    program = sandbox.home / "agent" / "sessions.py"
    program.parent.mkdir()
    program.write_text(SESSIONS)
    seen = sandbox.home / "seen"
    first = sandbox.milepost("run", "--agent", f"command:{sys.executable} {program}", MILEPOST_CHAOS_SEEN=str(seen))
    second = sandbox.milepost("resume", MILEPOST_CHAOS_SEEN=str(seen))
    assert (first.code, second.code) == (-9, -9), second.stderr
    assert seen.read_text().splitlines()[-1].endswith("session s-1")
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sandbox.git("show", "HEAD:done.txt") == "first half\nsecond half of s-1"


def test_a_secret_that_an_agent_reads_is_kept_nowhere(sandbox: Sandbox) -> None:
    secret = "hunter2-0123456789-very-secret"
    sandbox.write("conf.txt", f"KEY={secret}\n")
    sandbox.roadmap("# Roadmap\n\n- [ ] T1 Read\n  - Verify: test -f end.txt\n")
    read: dict[str, object] = {"calls": [{"name": "read_file", "arguments": {"path": "conf.txt"}}]}
    agent = cassette(sandbox, [read, {"calls": [write("end.txt", "end\n")]}, {"text": "Done."}])
    done = sandbox.milepost("run", "--agent", agent, OPENAI_API_KEY=secret)
    assert done.code == 0, done.stderr
    files = [path for path in places.state(sandbox.repo).rglob("*") if path.is_file()]
    assert any(path.name == "milepost.db" for path in files)
    assert [path.name for path in files if secret.encode() in path.read_bytes()] == []
