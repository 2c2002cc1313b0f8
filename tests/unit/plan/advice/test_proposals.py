"""How a task that is too big could be split."""

from __future__ import annotations

from milepost.plan.advice.proposals import proposals_for
from milepost.plan.graph.build_graph import plan
from milepost.roadmap import read

BIG = "Rewrite everything from scratch, end-to-end"


def lines_for(roadmap: str) -> list[str]:
    (proposal,) = proposals_for(plan(read(roadmap.encode())))
    return list(proposal.lines())


def test_the_parts_can_be_read_in_the_place_of_the_task() -> None:
    lines = lines_for(
        f"- [ ] 1.0 First\n- [ ] 1.1 {BIG}\n  - Files: `parse.py`, `show.py`\n"
        "  - Verify: `pytest tests/test_parse.py`\n  - Verify: `pytest tests/test_show.py`\n  - Depends on: 1.0\n"
    )
    one, two = read(("- [ ] 1.0 First\n" + "\n".join(lines)).encode()).tasks[1:]
    assert (one.id, one.verify, one.depends_on) == ("1.1.1", ("pytest tests/test_parse.py",), ("1.0",))
    assert (two.id, two.verify, two.depends_on) == ("1.1.2", ("pytest tests/test_show.py",), ("1.1.1",))


def test_parts_of_a_task_without_an_id_wait_for_each_other_by_title() -> None:
    lines = lines_for(f"- [ ] {BIG}\n  - [ ] Parse durations\n  - [ ] Show durations\n")
    roadmap = read("\n".join(lines).encode())
    assert roadmap.problems == ()
    one, two = roadmap.tasks
    assert (one.title, two.depends_on) == ("Parse durations", (one.id,))


def test_what_says_nothing_to_split_it_by_has_no_parts_and_a_small_task_no_proposal() -> None:
    assert lines_for(f"- [ ] 1.1 {BIG}\n- [ ] 1.2 Fix a typo\n") == []
