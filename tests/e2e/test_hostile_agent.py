"""Agents that reach out, or leave what no tree can hold: the repository stands and the verdict is right."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.e2e.conftest import Sandbox
from tests.integration.repositories import everything

# One attack a task, named by the task's title; what may not happen is tried and its failure swallowed.
AGENT = r"""
import json, os, pathlib, shutil, socket, subprocess

task = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
user = pathlib.Path(USER)


def tried(action, *arguments):
    try:
        action(*arguments)
    except OSError:
        pass


def git(*words, cwd="."):
    subprocess.run(["git", *words], cwd=cwd, capture_output=True)


def put(path, text):
    tried(lambda: (path.parent.mkdir(parents=True, exist_ok=True), path.write_text(text)))


def reach_out():
    put(user / ".git/config", "[core]\n\tfsmonitor = touch mark\n")
    put(user / ".git/hooks/post-merge", "#!/bin/sh\ntouch mark\n")
    put(user / ".git/refs/heads/evil", open(".git/HEAD").read())
    put(user / ".git/objects/info/alternates", "/tmp\n")
    put(user / "README.md", "owned\n")
    put(user / ".milepost/milepost.db", "")
    put(user / ".git/milepost/top/milepost.db", "")
    put(user / ".git/milepost/top/milepost.db-wal", "")
    put(user / ".git/milepost/top/git/config", "[core]\n\tfsmonitor = touch mark\n")
    for path in (user / ".git/objects").rglob("*"):
        tried(path.unlink)
    tried(os.link, user / "README.md", "hard")
    git("-C", str(user), "update-ref", "refs/heads/main", "HEAD~0")
    git("-C", str(user), "gc", "--prune=now")
    pathlib.Path("out.txt").write_text("done\n")


def borrow_the_users_git():
    shutil.rmtree(".git")
    pathlib.Path(".git").write_text(f"gitdir: {user}/.git\n")
    git("config", "core.hooksPath", "/tmp")
    git("add", "--all")
    git("commit", "--message", "mine")
    git("update-ref", "-d", "refs/heads/main")
    git("gc", "--prune=now")
    pathlib.Path("borrowed.txt").write_text("done\n")


def leave_oddities():
    for name in (b"-dash", b"new\nline", b"bytes-\xff", "line\u2028sep".encode(), b"n" * 255):
        open(name, "w").write("x\n")
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    os.symlink("-dash", "link-within")
    os.mkdir("empty")
    os.mkdir("locked")
    open("locked/inside.txt", "w").write("inside\n")
    os.chmod("locked", 0)
    os.unlink("ROADMAP.md")
    os.mkfifo("ROADMAP.md")


def link_out():
    os.symlink("/etc/passwd", "link-out")
    os.symlink(user, "link-to-the-user")


def nest_a_repository():
    os.mkdir("nested")
    git("init", cwd="nested")
    pathlib.Path("nested/work.txt").write_text("work\n")


def leave_holes():
    pathlib.Path("holes.txt").write_text("done\n")
    os.truncate("holes.txt", 2 << 40)


globals()[task["title"].replace(" ", "_")]()
"""

ROADMAP = """\
- [ ] 1.1 reach out
  - Verify: grep -q done out.txt
- [ ] 1.2 borrow the users git
  - Verify: grep -q done borrowed.txt
- [ ] 1.3 leave oddities
  - Verify: test -f ./-dash
- [ ] 1.4 nest a repository
  - Verify: test -f nested/work.txt
- [ ] 1.5 link out
  - Verify: test -L link-out
- [ ] 1.6 leave holes
  - Verify: grep -q done holes.txt
"""
OURS = (
    *(f".git/{name}" for name in ("objects", "refs/heads/milepost", "refs/notes", "logs", "milepost")),
    *(f".git/refs/{name}" for name in ("milepost", "milepost-calls", "milepost-train")),
)


def test_an_agent_changes_nothing_of_the_users_and_gets_the_verdict_its_work_deserves(sandbox: Sandbox) -> None:
    script = sandbox.home.parent / "agent" / "attack.py"
    script.write_text(f"USER = {str(sandbox.repo)!r}\n{AGENT}")
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap(ROADMAP)
    sandbox.write("README.md", "edited, so that nothing is moved at the end\n")
    before = everything(sandbox.repo, but=OURS)
    answer = sandbox.milepost("run", "--json", "--agent", f"command:{sys.executable} {script}")
    assert "tasks" in answer.events[-1], answer.stderr
    last = answer.events[-1]
    verdicts = {task["id"]: (task["verdict"], task["reason"]) for task in last["tasks"]}
    assert {task: verdict for task, (verdict, _) in verdicts.items()} == {
        "1.1": "passed",
        "1.2": "passed",
        "1.3": "passed",
        "1.4": "failed",
        "1.5": "failed",
        "1.6": "failed",
    }, verdicts
    assert "link-to-the-user" in verdicts["1.5"][1]
    assert "nested is a git repository of its own" in verdicts["1.4"][1]
    assert "the attempt left 'holes.txt' with 2199024 MB, where 100 MB are allowed" in verdicts["1.6"][1]
    assert everything(sandbox.repo, but=OURS) == before
    names = sandbox.git("ls-tree", "-r", "-z", "--name-only", last["branch"]).split("\0")
    assert {"-dash", "link-within", "locked/inside.txt", "new\nline", "n" * 255} <= set(names)
    assert not {"fifo", "socket", "nested", "link-out"} & set(names)
    assert sandbox.git("cat-file", "-p", f"{last['branch']}:link-within") == "-dash"
    assert sandbox.git("show", f"{last['branch']}:ROADMAP.md").count("- [x]") == 3
    assert sandbox.git("for-each-ref", "--format=%(refname)", "refs/heads") == "\n".join(
        ["refs/heads/main", f"refs/heads/{last['branch']}"]
    )
    assert sandbox.git("fsck", "--strict", "--no-dangling") == ""
    assert not any(Path(sandbox.home / ".cache/milepost").glob("*/*")), "a checkout was left"
