"""Several repositories as one, from the command line: all of them move, or none; also when it is killed anywhere."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tests import places
from tests.e2e.conftest import Answer, Sandbox
from tests.slow import slow

MARK = "refs/milepost-marks/v1"


def project(sandbox: Sandbox, name: str, roadmap: str) -> Sandbox:
    """Another repository on the same machine."""
    made = replace(sandbox, repo=sandbox.home / name)
    made.repo.mkdir()
    made.git("init", "--quiet", "--initial-branch=main")
    made.git("config", "user.name", "Ada")
    made.git("config", "user.email", "ada@example.com")
    made.write("milepost.toml", "[limits]\nattempts = 1\n")
    made.roadmap(roadmap)
    return made


def writing(name: str, *more: str, text: str = "good") -> str:
    lines = (f"write {name} {text}", *more, f"Files: {name}", f"Verify: grep -q good {name}")
    return "\n".join(("- [ ] 1.1 Write it", *(f"  - {line}" for line in lines), ""))


def mark_of(one: Sandbox) -> str:
    return one.git("for-each-ref", "--format=%(objectname)", MARK)


def copies(one: Sandbox) -> list[Path]:
    return sorted((places.state(one.repo) / "together").glob("*.json"))


def wait_for(started: subprocess.Popen[str], lines: set[str]) -> None:
    """Wait until a command has said some lines."""
    assert started.stderr is not None
    left, said = set(lines), ""
    for line in started.stderr:
        said += line
        left -= {one for one in left if line.startswith(one)}
        if not left:
            return
    raise AssertionError(f"never said: {left}, but:\n{said}")


@slow
def test_killed_anywhere_all_move_or_none(sandbox: Sandbox) -> None:
    api = project(sandbox, "api", writing("api.txt", "wait"))
    web = project(sandbox, "web", writing("web.txt", "wait"))
    base = {one.repo.name: one.git("rev-parse", "HEAD") for one in (api, web)}
    words = ("together", str(api.repo), str(web.repo), "--mark", "v1", "--agent", sandbox.agent)

    started = sandbox.start(*words)
    with started:
        wait_for(started, {"api    act", "web    act"})
        os.kill(started.pid, signal.SIGKILL)
    sandbox.let_go()
    in_the_way = web.write("web.txt", "mine\n")
    held = sandbox.milepost(*words)
    assert held.code == 1, held.stderr
    assert "✗ web  'web.txt' is in the way" in held.stdout
    assert "– api  done, waiting on milepost/" in held.stdout
    assert "no branch was changed" in held.stdout
    for one in (api, web):
        assert one.git("rev-parse", "HEAD") == base[one.repo.name]
        assert one.mileposts("--branches=milepost/*") == ["1.1"], "the attempt that was killed is not made twice"
    in_the_way.unlink()

    seen = sandbox.home / "seen"
    lives: list[Answer] = []
    while not lives or lives[-1].code == -signal.SIGKILL:
        lives.append(web.milepost("together", "--resume", MILEPOST_CHAOS_SEEN=str(seen)))
        moved = [one.git("rev-parse", "HEAD") != base[one.repo.name] for one in (api, web)]
        marked = [bool(mark_of(one)) for one in (api, web)]
        decided = [any('"decided": true' in copy.read_text() for copy in copies(one)) for one in (api, web)]
        assert not any(moved) or all(decided) or all(moved), "nothing moves before it is decided everywhere"
        assert not any(marked) or all(moved), "no mark before all have moved"
        assert len(lives) < 15
    assert lives[-1].code == 0, lives[-1].stderr
    stages = [line.split("/")[2:] for line in seen.read_text().splitlines()]
    assert stages == [[what, who] for what in ("decided", "moved", "marked", "over") for who in ("api", "web")]
    for one in (api, web):
        assert one.mileposts() == ["1.1"]
        assert mark_of(one) == one.git("rev-parse", "HEAD")
        assert one.git("status", "--porcelain") == ""
        assert not copies(one)
    assert "by hand" not in api.milepost("status").stdout
    assert "nothing to do" in lives[-1].stdout, "the one before was killed when all was over"


def test_one_that_fails_holds_all_back_and_the_next_call_goes_on_within_one_budget(sandbox: Sandbox) -> None:
    api = project(sandbox, "api", writing("api.txt", text="bad"))
    web = project(sandbox, "web", writing("web.txt"))
    done = project(sandbox, "done", "- [x] 1.1 Done\n")
    everyone = (str(api.repo), str(web.repo / "ROADMAP.md"), str(done.repo))
    first = sandbox.milepost("together", *everyone, "--agent", sandbox.agent, "--budget", "3", "--json")
    assert first.code == 1, first.stderr
    ending = {member["name"]: member for member in first.events[-1]["members"]}
    assert "1.1 failed" in ending["api"]["why"]
    assert not ending["web"]["why"]
    assert not first.events[-1]["decided"]
    assert {event.get("project") for event in first.events[:-1]} == {"api", "web"}, (
        "nothing is run where nothing is open"
    )
    assert web.mileposts() == []
    assert web.mileposts(f"milepost/{ending['web']['run']}") == ["1.1"]
    assert web.milepost("costs", "--json").json["budget"]["usd"] == 1.5, "half of the budget: one of two tasks"
    alone = web.milepost("run", "--agent", sandbox.agent)
    assert "git merge --ff-only milepost/" in alone.stdout, "what is held can be taken in by hand"

    api.roadmap(writing("api.txt"))
    again = api.milepost("together", "--resume", "--json")
    assert again.code == 0, again.stdout + again.stderr
    assert again.events[-1]["complete"]
    mark = f"refs/milepost-marks/{again.events[-1]['mark']}"
    assert api.milepost("costs", "--json").json["budget"]["usd"] == 3, "all that is left is for the one that is left"
    assert api.mileposts() == web.mileposts() == ["1.1"]
    for one in (api, web, done):
        assert one.git("rev-parse", mark) == one.git("rev-parse", "HEAD")


@slow
def test_an_interruption_reaches_every_run_and_is_waited_for(sandbox: Sandbox) -> None:
    api = project(sandbox, "api", writing("api.txt", "wait"))
    web = project(sandbox, "web", writing("web.txt", "wait"))
    started = sandbox.start("together", str(api.repo), str(web.repo), "--agent", sandbox.agent)
    with started:
        wait_for(started, {"api    act", "web    act"})
        os.kill(started.pid, signal.SIGINT)
        wait_for(started, {"api  stopping after", "web  stopping after"})
        while started.poll() is None:  # again: what is in flight is not waited for
            os.kill(started.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                started.wait(timeout=2)
        stdout, _ = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "stopped, no branch was changed" in stdout
    for one in (api, web):
        assert one.milepost("status", "--json").json["state"] == "interrupted"
