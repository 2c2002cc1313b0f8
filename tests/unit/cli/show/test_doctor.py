"""The doctor's lines, and what it says of control groups."""

from __future__ import annotations

import pytest

from milepost.cli.show.doctor import doctor_lines
from milepost.engine.commands.doctor import Finding, groups_in_words
from milepost.sandbox.walls.cgroup import CgroupFolder, Offer

PLACE = CgroupFolder(folder="/x", version=2)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (("memory", "pids"), "cgroup: memory, pids"),
        (("pids",), "cgroup: pids; memory by watchdog"),
        ((), "cgroup: none; memory by watchdog"),
    ],
)
def test_the_controllers_that_are_there_are_named_and_whether_memory_is_watched(
    places: tuple[str, ...], words: str
) -> None:
    missing = {name: "not delegated" for name in ("memory", "pids") if name not in places}
    assert groups_in_words(Offer(places=dict.fromkeys(places, PLACE), missing=missing)) == words


@pytest.mark.parametrize("width", [80, 120])
def test_a_detail_that_is_too_long_for_a_line_goes_on_below_itself(width: int) -> None:
    detail = "podman cannot limit the memory here; use a machine with cgroup v2; if you are not root, " * 2
    findings = (
        Finding(area="sandbox", name="isolated", ok=True, detail="Landlock 7"),
        Finding(area="sandbox", name="local", ok=False, detail=detail.strip(), needed=True),
        Finding(area="agents", name="a name that is longer than all", ok=False, detail="not in this version"),
    )
    first, second, *more, last = doctor_lines(findings, width)
    assert first == "sandbox    isolated                ok       Landlock 7"
    assert second.startswith("           local                   MISSING  podman cannot")
    assert more and all(line.startswith(" " * 44) and line[44] != " " for line in more)
    assert " ".join([second[44:], *(line.strip() for line in more)]) == detail.strip()
    assert last == "agents     a name that is longer than all  no       not in this version"
    assert all(len(line) <= width for line in (first, second, *more, last))


def test_many_names_of_one_finding_go_on_below_each_other() -> None:
    names = "claude, codex, aider, acp:gemini, acp:goose, acp:kimi, acp:qwen"
    path = "/a/long/path/to/the/checkouts"
    findings = (
        Finding(area="agents", name=names, ok=False, detail="not found on PATH"),
        Finding(area="checkouts", name=path, ok=True, detail="71.5 GB free, which is enough for all of them"),
    )
    assert doctor_lines(findings, 80) == [
        "agents     claude, codex, aider,   no       not found on PATH",
        "           acp:gemini, acp:goose,",
        "           acp:kimi, acp:qwen",
        f"checkouts  {path}",
        f"{'':<35}ok       71.5 GB free, which is enough for",
        f"{'':<44}all of them",
    ]
