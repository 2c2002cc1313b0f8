"""A credential that an attempt left is refused, and kept nowhere: not in git, not in the state, not on a remote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Sandbox
from tests.e2e.test_exact_resume import cassette, write
from tests.e2e.test_proof import everything_kept
from tests.e2e.test_workers import PATIENCE_S, Fleet, fleet  # noqa: F401

# Put together, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "k3J9vQ2mZx7LpR4tYw8Nb6Hs1Df5Gc0AeUiO"
DRAWN = "tR7" + "qLw9ZxK2mVb4NpY8s"
LEAKY = f"""
import os, pathlib
token, drawn = "".join({list(TOKEN)}), "".join({list(DRAWN)})
pathlib.Path("app.py").write_text("import os\\n\\napi_key = '" + drawn + "'\\n")
pathlib.Path("logo.bin").write_bytes(b"\\0" + token.encode())
pathlib.Path("data").mkdir()
pathlib.Path("data", token + ".txt").write_text("harmless\\n")
os.symlink("data/" + token, "link")
print("done with", token)
"""


def leaky(sandbox: Sandbox) -> str:
    path = Path(sandbox.agent.split()[-1]).with_name("leaky.py")
    path.write_text(LEAKY)
    sandbox.write("milepost.toml", "[limits]\nattempts = 2\n")
    sandbox.roadmap("- [ ] T1 Configure\n  - Verify: test -f app.py\n")
    return f"command:{sys.executable} {path}"


def test_a_refused_credential_is_in_no_object_and_in_nothing_that_is_told(sandbox: Sandbox) -> None:
    answer = sandbox.milepost("run", "--agent", leaky(sandbox), "--json")
    ended = answer.events[-1]["tasks"][0]
    assert ended["verdict"] == "failed", answer.stdout
    for place in ("app.py:3 (what looks", "logo.bin (a token)", "data/[secret].txt (a secret in its name)", "link (a"):
        assert place in ended["reason"]
    report = sandbox.milepost("report", "--markdown", "-").stdout + sandbox.milepost("proof", "T1", "--json").stdout
    told = answer.stdout + answer.stderr + report
    kept = everything_kept(sandbox)
    assert not [secret for secret in (TOKEN, DRAWN) if secret in told or secret.encode() in kept]
    run = answer.events[-1]["run"]
    assert "[secret]" in sandbox.git("show", f"refs/milepost/{run}/T1/1:app.py")
    assert sandbox.git("show", f"refs/milepost/{run}/T1/1:data/[secret].txt") == "harmless"
    assert list((sandbox.repo / ".git/objects").glob("tmp_objdir*")) == []


def test_what_a_model_wrote_into_a_refused_attempt_is_masked_in_the_books(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap("- [ ] T1 Configure\n  - Verify: test -f end.txt\n")
    written = write("end.txt", f"end {TOKEN}\napi_key = '{DRAWN}'\n")
    read: dict[str, object] = {"calls": [{"name": "read_file", "arguments": {"path": "end.txt"}}]}
    agent = cassette(sandbox, [{"calls": [written]}, read, {"text": f"I used {TOKEN}."}])
    answer = sandbox.milepost("run", "--agent", agent)
    assert "credentials in the change: end.txt:1 (a token)" in answer.stderr
    kept = everything_kept(sandbox)
    assert not [secret for secret in (TOKEN, DRAWN) if secret.encode() in kept]


def test_a_worker_pushes_no_credential_that_was_refused(fleet: Fleet) -> None:  # noqa: F811
    agent = leaky(fleet.user)
    fleet.hire("ann", MILEPOST_AGENT=agent)
    following = fleet.submit(agent=agent)
    following.wait(PATIENCE_S)
    assert "credentials in the change" in fleet.kept()
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=fleet.remote, capture_output=True, check=True
    ).stdout
    assert b"[secret]" in objects
    kept = fleet.told() + fleet.log("ann") + fleet.kept()
    assert not [secret for secret in (TOKEN, DRAWN) if secret.encode() in objects or secret in kept]
