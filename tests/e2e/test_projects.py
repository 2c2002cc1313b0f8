"""Several projects from the command line: found, planned as one, and worked on in the order of their dependencies."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace

from tests.e2e.conftest import Sandbox
from tests.e2e.test_together import project, wait_for
from tests.slow import slow


def task(number: str, file: str, *more: str, text: str = "good") -> str:
    lines = (*more, f"write {file} {text}", f"Files: {file}", f"Verify: grep -q good {file}")
    return "\n".join((f"- [ ] {number} Write {file}", *(f"  - {line}" for line in lines), ""))


def workspace(sandbox: Sandbox, *members: str) -> Sandbox:
    """The folder above some repositories, with a milepost.toml that names them."""
    top = replace(sandbox, repo=sandbox.home)
    top.write("milepost.toml", f"[workspace]\nmembers = {list(members)}\n")
    return top


def monorepo(sandbox: Sandbox, **roadmaps: str) -> Sandbox:
    sandbox.write("package.json", '{"workspaces": ["packages/*"]}')
    sandbox.write("milepost.toml", '[workspace]\nmembers = ["."]\n')
    for name, roadmap in roadmaps.items():
        sandbox.write(f"packages/{name}/package.json", f'{{"name": "@acme/{name}"}}')
        sandbox.write(f"packages/{name}/ROADMAP.md", roadmap)
        sandbox.write(f"packages/{name}/milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.commit("Packages")
    return sandbox


def landed(events: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(one["project"], one["task"]) for one in events if one["event"] == "milepost_made"]


def test_two_repositories_that_wait_for_each_other_are_planned_and_run_as_one(sandbox: Sandbox) -> None:
    api = project(sandbox, "api", task("1.1", "a.txt") + task("1.2", "b.txt", "Depends on: web/1.1"))
    web = project(sandbox, "web", task("1.1", "c.txt", "Depends on: api:1.1") + task("1.2", "d.txt", "Depends on: 1.1"))
    top = workspace(sandbox, "api", "web")
    plan = top.milepost("plan", "--json").json
    assert [one["name"] for one in plan["projects"]] == ["api", "web"]
    waves = [[f"{one['project']}:{one['id']}" for one in wave] for wave in plan["waves"]]
    assert waves == [["api:1.1"], ["web:1.1"], ["api:1.2", "web:1.2"]]

    alone = web.milepost("run", "--agent", sandbox.agent)
    assert alone.code == 1
    assert "waits for api:1.1" in alone.stdout
    assert web.mileposts() == []

    done = top.milepost("together", "--agent", sandbox.agent, "--mark", "v1", "--json")
    assert done.code == 0, done.stdout + done.stderr
    order = landed(done.events)
    assert set(order) == {("api", "1.1"), ("api", "1.2"), ("web", "1.1"), ("web", "1.2")}
    assert order.index(("api", "1.1")) < order.index(("web", "1.1")) < order.index(("api", "1.2"))
    assert api.mileposts() == web.mileposts() == ["1.1", "1.2"]
    assert api.git("rev-parse", "refs/milepost-marks/v1") == api.git("rev-parse", "HEAD")
    api.git("reset", "--quiet", "--hard", "HEAD~2")
    anew = api.milepost("run", "--dry-run", "--json", "--agent", sandbox.agent).json["would_run"]
    assert anew == ["1.1", "1.2"], "whoever goes back behind what was taken in meant to"


@slow
def test_killed_while_one_waits_for_the_other_the_next_call_goes_on(sandbox: Sandbox) -> None:
    api = project(sandbox, "api", task("1.1", "a.txt"))
    web = project(sandbox, "web", task("1.1", "c.txt", "Depends on: api:1.1", "wait"))
    top = workspace(sandbox, "*")
    words = ("together", str(api.repo), str(web.repo), "--agent", sandbox.agent)
    started = top.start(*words)
    with started:
        wait_for(started, {"web    act"})
        os.kill(started.pid, signal.SIGKILL)
    sandbox.let_go()
    assert api.mileposts() == [], "it is held until all are there"
    done = top.milepost(*words, "--json")
    assert done.code == 0, done.stdout + done.stderr
    assert landed(done.events) == [("web", "1.1")], "what api did is not done again"
    assert api.mileposts() == web.mileposts() == ["1.1"]


def test_what_fails_holds_back_what_waits_for_it_and_says_so(sandbox: Sandbox) -> None:
    api = project(sandbox, "api", task("1.1", "a.txt", text="bad"))
    web = project(sandbox, "web", task("1.1", "c.txt", "Depends on: api:1.1") + task("1.2", "d.txt"))
    top = workspace(sandbox, "api", "web")
    failed = top.milepost("together", "--agent", sandbox.agent)
    assert failed.code == 1, failed.stderr
    assert "✗ web  1.1 waits for api:1.1" in failed.stdout
    assert api.mileposts() == web.mileposts() == []
    api.roadmap(task("1.1", "a.txt"))
    again = top.milepost("together", "--agent", sandbox.agent)
    assert again.code == 0, again.stdout + again.stderr
    assert sorted(web.mileposts()) == ["1.1", "1.2"]

    api.roadmap("- [ ] 2.1 A (depends: web:2.1)\n")
    web.roadmap("- [ ] 2.1 B (depends: api:2.1)\n")
    circle = top.milepost("together", "--agent", sandbox.agent)
    assert circle.code == 2
    assert "api:2.1 → web:2.1 → api:2.1: each waits for the next" in circle.stderr
    assert "api:2.1 → web:2.1" in top.milepost("run", "--workspace", "--agent", sandbox.agent).stderr


def test_packages_of_one_repository_are_run_in_turn_and_a_killed_call_goes_on(sandbox: Sandbox) -> None:
    machine = monorepo(
        sandbox,
        app=task("1.1", "packages/app/a.txt", "Depends on: core:1.1", "wait"),
        core=task("1.1", "packages/core/a.txt") + task("1.2", "packages/core/b.txt", "Depends on: @acme/app:1.1"),
    )
    listed = machine.milepost("projects", "--json").json
    assert [one["name"] for one in listed["projects"]] == ["@acme/app", "@acme/core"]
    refused = machine.milepost("together", "--agent", sandbox.agent)
    assert refused.code == 2 and "milepost run --workspace" in refused.stderr

    words = ("run", "--workspace", "--agent", sandbox.agent)
    started: subprocess.Popen[str] = machine.start(*words)
    with started:
        wait_for(started, {"@acme/app    act"})
        os.kill(started.pid, signal.SIGKILL)
    assert machine.mileposts() == ["1.1"], "what core did is taken in before app begins"
    sandbox.let_go()
    done = machine.milepost(*words, "--json")
    assert done.code == 0, done.stdout + done.stderr
    assert landed(done.events) == [("@acme/app", "1.1"), ("@acme/core", "1.2")]
    assert machine.mileposts() == ["1.1", "1.1", "1.2"]
    ending = done.events[-1]
    assert ending["event"] == "workspace_finished" and ending["complete"]
    assert machine.git("status", "--porcelain") == ""
    assert "nothing to do" in machine.milepost(*words).stdout


@slow
def test_in_turn_nobody_begins_on_top_of_what_is_not_taken_in(sandbox: Sandbox) -> None:
    machine = monorepo(
        sandbox, a=task("1.1", "packages/a/a.txt", text="bad"), b=task("1.1", "b.txt"), c=task("1.1", "c.txt")
    )
    words = ("run", "--workspace", "--agent", sandbox.agent)
    machine.write("README.md", "changed\n")
    dirty = machine.milepost(*words)
    assert dirty.code == 1 and "your working tree has uncommitted changes" in dirty.stderr
    machine.git("checkout", "--quiet", "README.md")
    in_the_way = machine.write("b.txt", "mine\n")
    halted = machine.milepost(*words)
    assert halted.code == 1, halted.stderr
    assert "✗ @acme/a  1.1 failed" in halted.stdout, "what fails keeps nobody else back"
    assert "@acme/b: its mileposts could not be merged into your branch: " in halted.stdout
    assert "✗ @acme/c  1.1 was not started" in halted.stdout
    in_the_way.unlink()
    branch = halted.stdout.partition("merge --ff-only ")[2].split()[0]
    machine.git("merge", "--quiet", "--ff-only", branch)
    again = machine.milepost(*words)
    assert again.code == 1 and "✓ @acme/c  1 task passed" in again.stdout
    for wrong in (("--task", "1.1"), ("--dry-run",), ("--new",)):
        assert machine.milepost(*words, *wrong).code == 2
    assert machine.milepost("plan", "packages/a/ROADMAP.md", "--workspace").code == 2
