"""What holds a run's commands is told wherever one looks: a level, a weaker one than was asked for, or containers."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from milepost.sandbox.levels import ladder
from tests.e2e.conftest import Answer, Sandbox

ONE = "- [ ] 1.1 Write it\n  - write a.txt hello\n  - Verify: grep -q hello a.txt\n"
PODMAN = Path(__file__).parents[1] / "fakes/podman.py"
WEAKER = "isolated (downgraded-from-sandboxed)"


def without_namespaces(sandbox: Sandbox, *words: str) -> Answer:
    """Milepost where no namespace can be made."""
    script = f"echo 0 > /proc/sys/user/max_user_namespaces && exec {shlex.join(sandbox.argv(*words))}"
    argv = ["unshare", "--user", "--map-root-user", "sh", "-c", script]
    done = subprocess.run(argv, cwd=sandbox.repo, env=sandbox.environment, capture_output=True, text=True, timeout=120)
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(not all(report.ok for report in ladder()), reason="namespaces cannot be had here to begin with")
def test_a_weaker_level_than_was_asked_for_is_told_by_the_run_its_status_report_and_proof(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[sandbox]\nallow_downgrade = true\n")
    sandbox.roadmap(ONE)
    run = without_namespaces(sandbox, "run", "--agent", sandbox.agent, "--trust", "sandboxed")
    assert run.code == 0, run
    assert run.stderr.splitlines()[0].endswith(f"sandbox: {WEAKER}")
    assert sandbox.milepost("status").stdout.splitlines()[0].endswith(f"sandbox: {WEAKER}")
    report = sandbox.milepost("report", "--markdown", "-").stdout.replace("\\", "")
    assert f"sandbox: {WEAKER}" in report
    assert "sandbox     downgraded-from-sandboxed, " in sandbox.milepost("proof", "1.1").stdout


def test_commands_run_in_containers_where_the_settings_say_so(sandbox: Sandbox) -> None:
    (sandbox.home / "bin").mkdir()
    (sandbox.home / "bin/podman").symlink_to(PODMAN)
    env = {
        "PATH": f"{sandbox.home / 'bin'}:{sandbox.environment['PATH']}",
        "MILEPOST_FAKE_PODMAN": str(sandbox.home / "told.jsonl"),
    }
    sandbox.write("milepost.toml", '[sandbox]\ncontainer = "podman"\nimage = "pocket:1"\n')
    sandbox.roadmap(ONE)
    run = sandbox.milepost("run", "--agent", sandbox.agent, **env)
    assert run.code == 0, run
    assert run.stderr.splitlines()[0].endswith("sandbox: container (podman pocket:1)")
    told = [json.loads(line) for line in (sandbox.home / "told.jsonl").read_text().splitlines()]
    agent = shlex.split(sandbox.agent.removeprefix("command:"))
    assert {"image": "pocket:1", "network": "none", "argv": agent} in told
    assert "container (podman pocket:1)" in sandbox.milepost("proof", "1.1", "--json").json["enforced"]

    by_hand = sandbox.milepost("sh", "--json", "--", "cat", "a.txt", **env).json
    assert (by_hand["trust"], by_hand["stdout"]) == ("container (podman pocket:1)", "hello\n")
