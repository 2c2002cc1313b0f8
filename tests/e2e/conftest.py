"""A repository with a roadmap, and the command line as a user has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import lean, places
from tests.e2e import warm
from tests.environment import YES

AGENT = '''\
"""Does what the task's text says, line by line: `write FILE TEXT`, `append FILE TEXT`, `fail-first`, `sleep SECONDS`,
`exit CODE`; `notes FILE` writes what people noted.

`wait` waits until somebody lets it go on, by a line at the end of this file.
"""
import json, os, pathlib, shlex, sys, time

assignment = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))
for line in assignment["text"].splitlines():
    words = shlex.split(line.strip().lstrip("-").strip())
    if not words:
        continue
    if words[0] == "write":
        path = pathlib.Path(words[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        broken = "fail-first" in assignment["text"] and assignment["attempt"] == 1
        path.write_text(("BROKEN" if broken else " ".join(words[2:])) + "\\n")
        print("writing", path, flush=True)
    elif words[0] == "append":
        with open(words[1], "a") as stream:
            stream.write(" ".join(words[2:]) + "\\n")
    elif words[0] == "sleep":
        time.sleep(float(words[1]))
    elif words[0] == "wait":
        while not pathlib.Path(__file__).read_text().endswith("# go on\\n"):
            time.sleep(0.05)
    elif words[0] == "notes":
        pathlib.Path(words[1]).write_text("\\n".join(assignment["notes"]) + "\\n")
    elif words[0] == "exit":
        sys.exit(int(words[1]))
'''


@dataclass(frozen=True)
class Answer:
    """What a command printed and how it ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        assert self.stdout, self.stderr
        return json.loads(self.stdout)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.split("\n") if line]


@dataclass(frozen=True)
class Sandbox:
    """A user's machine: a home, a repository in it, and an agent outside of it."""

    home: Path
    repo: Path
    agent: str

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG",) if name in os.environ}
        path = f"{lean.python().parent}{os.pathsep}{os.environ['PATH']}"
        checkouts = str(self.home / ".cache/milepost")  # where a test finds them, and no other
        ours = {"MILEPOST_CHECKOUTS": checkouts, YES: "1"}  # agreed to what tests set
        return {**kept, "PATH": path, "HOME": str(self.home), "COLUMNS": "100", **ours}

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "milepost", *words]

    def milepost(self, *words: str, **env: str) -> Answer:
        with self.start(*words, **env) as process:
            try:
                stdout, stderr = process.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Answer(process.returncode, stdout, stderr)

    def run(self, *words: str) -> Answer:
        return self.milepost("run", "--agent", self.agent, *words)

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        environ = {**self.environment, **env}
        if warm.is_possible(environ):
            return warm.Process(words, self.repo, environ)
        return self.start_cold(*words, **env)

    def start_cold(self, *words: str, **env: str) -> subprocess.Popen[str]:
        """Start a process that imports the program itself, as a user's does."""
        return subprocess.Popen(
            self.argv(*words),
            cwd=self.repo,
            env={**self.environment, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.repo,
            env=self.environment,
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    def write(self, name: str, text: str) -> Path:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str = "Work") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def roadmap(self, text: str) -> None:
        self.write("ROADMAP.md", text)
        self.commit("Roadmap")

    def let_go(self) -> None:
        """Let an agent that waits go on."""
        with Path(self.agent.split()[-1]).open("a") as agent:  # added to: one that starts now reads all of it
            agent.write("# go on\n")

    def mileposts(self, ref: str = "HEAD") -> list[str]:
        """The tasks of the mileposts in a history, oldest first."""
        trailer = "%(trailers:key=Milepost-Task,valueonly,separator=)"
        return [line for line in self.git("log", "--reverse", f"--format={trailer}", ref).splitlines() if line]


def make_machine(tmp_path: Path) -> Sandbox:
    home, repo, agent = tmp_path / "home", tmp_path / "home" / "project", tmp_path / "agent" / "agent.py"
    repo.mkdir(parents=True)
    agent.parent.mkdir()
    agent.write_text(AGENT)
    made = Sandbox(home=home, repo=repo, agent=f"command:{sys.executable} {agent}")
    places.put_key(home)
    made.git("init", "--quiet", "--initial-branch=main")
    made.git("config", "user.name", "Ada")
    made.git("config", "user.email", "ada@example.com")
    made.write("README.md", "A project\n")
    made.commit("Start")
    return made


@pytest.fixture(scope="session", autouse=True)
def _nursery(nursed: None) -> None:
    """Every machine here starts the command line warm."""


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return make_machine(tmp_path)


@pytest.fixture
def make_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Sandbox]:
    return lambda: make_machine(tmp_path_factory.mktemp("machine"))
