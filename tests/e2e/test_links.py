"""A home, a cache or a repository that lies behind a symbolic link takes no check away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.e2e.conftest import Sandbox

TEST = "from pkg import two\n\n\ndef test_two():\n    assert two() == 2\n"
ROADMAP = "- [ ] Let two give two\n  - write pkg.py 'def two(): return 2'\n  - Verify: `pytest -q test_two.py`\n"


def test_the_same_checks_come_to_the_same_behind_links(make_sandbox: Callable[[], Sandbox]) -> None:
    plain, linked = make_sandbox(), make_sandbox()
    behind = replace(linked, home=_link(linked.home), repo=_link(linked.repo))

    told = _checks(plain, Path(plain.home, "store"))

    assert {"tests", "verify"} <= {name for name, outcome in told if outcome == "passed"}
    assert _checks(behind, _link(Path(linked.home, "store"))) == told


def _checks(machine: Sandbox, cache: Path) -> list[tuple[str, str]]:
    machine.write("pkg.py", "def two(): return 1\n")
    machine.write("test_two.py", TEST)
    machine.roadmap(ROADMAP)
    done = machine.milepost(
        "run", "--agent", machine.agent, XDG_CACHE_HOME=str(cache), MILEPOST_CHECKOUTS=str(cache / "checkouts")
    )
    assert done.code == 0, done.stdout + done.stderr
    proof = machine.milepost("proof", machine.mileposts()[0], "--json").json
    return [(check["name"], check["outcome"]) for check in proof["checks"]]


def _link(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    link = folder.with_name(f"{folder.name}-link")
    link.symlink_to(folder)
    return link
