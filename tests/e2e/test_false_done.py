"""An agent that says that all is done, and it is not: whatever it says and however it exits, nothing is ticked."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Sandbox

SAYS = "printf 'Running the tests ...\\nAll done.\\n'"
WRITES = "echo hello > a.txt"


@pytest.mark.parametrize(
    ("script", "verify", "reason"),
    [
        pytest.param(f"{WRITES}; {SAYS}; exit 1", "grep -q hello a.txt", "exit 1", id="it exits with 1"),
        pytest.param(f"{WRITES}; make -f missing; {SAYS}; kill -9 $$", "true", "SIGKILL", id="it is killed"),
        pytest.param(f"false; {SAYS}", "true", "changed nothing", id="it changed nothing"),
        pytest.param(f"{WRITES}; false; {SAYS}", "grep bye a.txt", "`grep bye a.txt` exit 1", id="the check fails"),
    ],
)
def test_an_agent_whose_work_failed_while_it_says_all_done_is_not_done(
    script: str, verify: str, reason: str, sandbox: Sandbox
) -> None:
    roadmap = given(sandbox, verify)
    before = sandbox.git("rev-parse", "HEAD")

    answer = sandbox.milepost("run", "--json", "--agent", f'command:sh -c "{script}"')

    assert answer.code == 1, answer.stderr
    (task,) = answer.events[-1]["tasks"]
    assert (task["verdict"], task["commit"]) == ("failed", None)
    assert reason in task["reason"]
    said = [event["text"] for event in answer.events if event["event"] == "agent_said"]
    assert "All done." in said, "the lie was told"
    assert (sandbox.repo / "ROADMAP.md").read_text() == roadmap
    assert sandbox.git("rev-parse", "HEAD") == before
    assert sandbox.mileposts("--all") == []


def test_the_same_agent_is_done_when_its_work_is(sandbox: Sandbox) -> None:
    roadmap = given(sandbox, "grep -q hello a.txt")

    answer = sandbox.milepost("run", "--json", "--agent", f'command:sh -c "{WRITES}; {SAYS}"')

    assert answer.code == 0, answer.stderr
    assert (sandbox.repo / "ROADMAP.md").read_text() == roadmap.replace("[ ]", "[x]")


def given(sandbox: Sandbox, verify: str) -> str:
    """One task with one attempt for it; the roadmap as it was written."""
    roadmap = f"- [ ] 1.1 Write it\n  - a.txt says hello\n  - Verify: {verify}\n"
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap(roadmap)
    return roadmap
