"""Programs that a commit brought are run inside the walls at most, and never judge."""

from __future__ import annotations

from tests.e2e.conftest import Sandbox
from tests.e2e.test_proof import scripted, tasks_of, verdicts, write

LIAR = "#!/bin/sh\necho '1 passed in 0.01s'\nexit 0\n"
TEST = "from app import double\n\n\ndef test_double():\n    assert double(2) == 4\n"


def test_an_interpreter_that_a_commit_brought_is_not_taken_for_the_next_proof(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.write("app.py", "def double(x):\n    return x\n")
    sandbox.write("test_app.py", TEST)
    sandbox.roadmap("- [ ] T1 Add notes\n- [ ] T2 Double\n  - Verify: python -m pytest -q test_app.py\n")
    brought = [write("notes.txt", "x\n"), write(".gitignore", "!/.venv\n"), write(".venv/bin/python", LIAR)]
    first = sandbox.milepost("run", "--agent", scripted(sandbox, T1=[brought]), "--json", "--task", "T1")
    assert verdicts(first) == {"T1": "failed"}
    assert (
        "brings packages or programs that the task does not ask for: .venv/bin/python"
        in tasks_of(first)["T1"]["reason"]
    )

    sandbox.write(".venv/bin/python", LIAR).chmod(0o755)
    sandbox.git("add", "--force", ".venv")
    sandbox.commit("As if it had landed")
    agent = scripted(sandbox, "second", T2=[[write("app.py", "def double(x):\n    return x + 1\n")]])
    answer = sandbox.milepost("run", "--new", "--agent", agent, "--json", "--task", "T2")
    assert verdicts(answer) == {"T2": "failed"}
    proof = sandbox.milepost("proof", "T2", "--json").json
    used = [word for check in proof["checks"] for word in check["argv"]]
    assert used and not [word for word in used if ".venv" in word]
    assert "not .venv: git tracks .venv/bin/python" in str(proof)
