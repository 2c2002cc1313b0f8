"""What a commit or a clone brings is never the engine's state, and nothing of it runs outside the walls."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_exact_resume import SESSIONS

TWO = """\
- [ ] 1.1 Escape
  - Verify: test -f one.txt
- [ ] 1.2 Another
  - Depends on: 1.1
  - Verify: test -f one.txt
"""
# Puts all that git could be made to run where the engine, or the user's own git, might look for it.
ESCAPE = '''\
import pathlib, sys
canary, program = sys.argv[1], f"touch {sys.argv[1]}"
def put(name, text, mode=0o644):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
config = f"""[core]
	fsmonitor = {program}
	hooksPath = hooks
	sshCommand = {program}
[filter "evil"]
	clean = {program}
	smudge = {program}
	process = {program}
[diff]
	external = {program}
[alias]
	status = !{program}
"""
hooks = ("post-checkout", "post-merge", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor")
put(".gitignore", "!/.milepost/\\n!/.milepost/**\\n!.githooks/**\\n")
for folder in (".milepost/git", ".milepost/git/real", "bare"):
    put(f"{folder}/config", config)
    put(f"{folder}/HEAD", "ref: refs/heads/main\\n")
    put(f"{folder}/refs/heads/.keep", "")
    put(f"{folder}/objects/.keep", "")
    put(f"{folder}/info/attributes", "* filter=evil diff=evil merge=evil\\n")
    for hook in hooks:
        put(f"{folder}/hooks/{hook}", f"#!/bin/sh\\n{program}\\n", 0o755)
put(".milepost/git/commondir", "real\\n")
put(".milepost/milepost.db", "no database")
put(".milepost/milepost.db-wal", "no log of one")
put(".milepost/lock", "")
put(".milepost/.gitignore", "!*\\n")
put(".gitattributes", "*.txt filter=evil\\n")
for hook in hooks:
    put(f".githooks/{hook}", f"#!/bin/sh\\n{program}\\n", 0o755)
put("one.txt", "one\\n")
'''


def test_what_an_attempt_commits_where_the_state_was_never_runs(sandbox: Sandbox, tmp_path: Path) -> None:
    canary, script = sandbox.home / "canary", tmp_path / "agent/escape.py"
    script.write_text(ESCAPE)
    sandbox.git("config", "core.fsmonitor", ".githooks/fsmonitor")  # as a project with hooks of its own has it
    sandbox.git("config", "core.hooksPath", ".githooks")
    sandbox.git("config", "filter.evil.clean", f"touch {canary}")
    sandbox.git("config", "filter.evil.smudge", f"touch {canary}")
    sandbox.roadmap(TWO)
    canary.unlink(missing_ok=True)  # the user's own commit may run what they configured
    agent = f"command:{sys.executable} {script} {canary}"
    first = sandbox.milepost("run", "--task", "1.1", "--agent", agent, "--json")
    assert first.events[-1]["tasks"][0]["verdict"] == "passed", first.stderr
    branch = first.events[-1]["branch"]
    names = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", branch], cwd=sandbox.repo, capture_output=True, text=True
    ).stdout.split()
    assert ".milepost/git/hooks/post-merge" in names and ".milepost/git/commondir" in names
    assert not canary.exists()
    neutral = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "filter.evil.smudge=")
    sandbox.git(*neutral, "reset", "--quiet", "--hard", branch)
    assert (sandbox.repo / ".milepost/git/hooks/post-merge").exists()
    for words in (
        ("status",),
        ("plan",),
        ("run", "--agent", agent),
        ("log",),
        ("proof", "1.1"),
        ("sync",),
        ("doctor",),
    ):
        answer = sandbox.milepost(*words)
        assert (canary.exists(), answer.code in (0, 1)) == (False, True), (words, answer.stderr)

    clone = Sandbox(home=sandbox.home, repo=sandbox.home / "clone", agent=sandbox.agent)
    sandbox.git(*neutral, "clone", "--quiet", str(sandbox.repo), str(clone.repo))
    for words in (("run", "--agent", agent), ("status",), ("log",)):
        refused = clone.milepost(*words)
        assert (refused.code, "git tracks '.milepost/" in refused.stderr) == (1, True), refused.stderr
    bare = Sandbox(home=sandbox.home, repo=sandbox.repo / "bare", agent=sandbox.agent)
    assert bare.milepost("status").code == 2
    assert not canary.exists()


def test_a_run_that_the_version_before_began_goes_on_after_its_state_was_taken_over(sandbox: Sandbox) -> None:
    sandbox.roadmap("# Roadmap\n\n- [ ] T1 Halves\n  - Verify: grep -q second done.txt\n")
    program, seen = sandbox.home / "agent" / "sessions.py", sandbox.home / "seen"
    program.parent.mkdir()
    program.write_text(SESSIONS)
    agent = f"command:{sys.executable} {program}"
    assert sandbox.milepost("run", "--agent", agent, MILEPOST_CHAOS_SEEN=str(seen)).code == -9
    assert sandbox.milepost("resume", MILEPOST_CHAOS_SEEN=str(seen)).code == -9
    state, old = places.state(sandbox.repo), sandbox.repo / ".milepost"
    for name in ("made-by", "agents-by-hand"):
        (state / name).unlink()
    shutil.move(state, old)
    (old / ".gitignore").write_text("*\n")
    refused = sandbox.milepost("resume")
    assert (refused.code, "milepost adopt" in refused.stderr) == (1, True), refused.stderr
    assert sandbox.milepost("adopt").code == 0
    run = sandbox.milepost("status", "--json").json["run"]
    assert not old.exists() and (state / "milepost.db").exists()
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sandbox.git("show", "HEAD:done.txt") == "first half\nsecond half of s-1"
    assert sandbox.milepost("status", "--json").json["run"] == run


@pytest.mark.parametrize("words", [("status",), ("log",), ("report",), ("proof", "1.1"), ("resume",), ("events",)])
def test_a_repository_from_an_archive_is_not_believed_about_its_runs(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    sandbox.roadmap("- [ ] 1.1 One\n  - write a.txt a\n  - Verify: test -f a.txt\n")
    places.made_state(sandbox.repo)
    refused = sandbox.milepost(*words, XDG_STATE_HOME=str(sandbox.home / "another"))
    assert (refused.code, "was not made by you on this machine" in refused.stderr) == (1, True), refused.stderr
    assert "milepost adopt" in refused.stderr
