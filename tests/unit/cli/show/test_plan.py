"""A plan on a terminal: a tree of waves, and problems that can be read."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from milepost.cli.show.plan import plan_lines, proposal_lines
from milepost.cli.show.problems import problem_lines
from milepost.core.task import Plan, Task
from milepost.plan.advice.proposals import proposals_for
from milepost.plan.graph.build_graph import plan
from milepost.plan.options import Planning
from milepost.plan.repository_facts import RepositoryFacts
from milepost.roadmap import read

ROADMAP = """\
- [x] 1.0 Skeleton
- [ ] 1.1 Parse durations
  - Files: durations.py
  - Verify: `pytest tests/test_durations.py`
- [ ] 1.2 Format durations
  - Files: durations.py
  - Depends on: 1.0
  - Verify: `pytest tests/test_durations.py`
- [ ] 2.1 Command line `dur`, with all that belongs to it and a title that no line has room for beside anything else
  - Files: cli.py
  - Verify: `sh check.sh`
- [ ] 2.2 期間を表示する機能
  - Depends on: 2.1
  - Verify: `sh check.sh`
"""


def planned(planning: Planning | None = None) -> Plan:
    return plan(
        read(ROADMAP.encode()), planning or Planning(), RepositoryFacts(imports={"cli.py": {"durations.py": ""}})
    )


def test_a_plan_is_a_tree_of_waves() -> None:
    assert plan_lines(planned(), "ROADMAP.md", 100)[:12] == [
        "ROADMAP.md · 5 tasks · 1 done · 4 open · 4 waves",
        "",
        "now  ── 1.1  Parse durations     durations.py  verify: pytest tests/test_durations.py",
        "then ── 1.2  Format durations    durations.py  verify: pytest tests/test_durations.py",
        "then ── 2.1  Command line `dur`, with all that belongs to it and a title that no line has room for…",
        "             cli.py  after 1.1, 1.2 (cli.py imports durations.py)  verify: sh check.sh",
        "then ── 2.2  期間を表示する機能  after 2.1  verify: sh check.sh",
        "",
        "1 thing to check before you spend money",
        "  line 5  1.1 and 1.2 both change durations.py: they will not run at the same time",
        "",
        "path   1.1 → 1.2 → 2.1 → 2.2: 4 tasks one after the other, the longest chain",
    ]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_of_the_tree_is_wider_than_the_terminal(width: int) -> None:
    made = planned()
    lines = plan_lines(made, "ROADMAP.md", width)
    tree = lines[2 : lines.index("", 2)]
    assert all(cell_len(line) <= width for line in tree)
    assert sum(line.startswith(("now", "then")) for line in tree) == 4


def test_a_group_is_one_line_that_names_its_members() -> None:
    lines = plan_lines(planned(Planning(grouping="smart")), "ROADMAP.md", 120)
    assert lines[0].endswith("4 open · 1 group · 3 waves")
    assert lines[2].startswith("now  ── 1.1 +1  Implement durations.py: Parse durations; Format durations")
    assert "with 1.2" in "".join(lines[2:4])


def test_an_id_is_never_cut() -> None:
    names = ("1.1", "an-id-that-is-longer-than-all-the-others-are-k2x7qa")
    tasks = tuple(Task(id=name, title="Do it", status="open", line=1) for name in names)
    lines = plan_lines(Plan(tasks=tasks, waves=(names,)), "ROADMAP.md", 40)
    assert lines[2:5] == [f"now  ┬─ {names[0]}  Do it", f"     └─ {names[1]}", "             Do it"]


def test_ids_of_many_lengths_have_one_column() -> None:
    names = ("build-it-k2x7qa", "write-docs-k2x7qb", "collect-the-words-k2x7qc", "say-what-is-missing-k2x7qd")
    tasks = tuple(Task(id=name, title="Do it", status="open", line=1) for name in names)
    lines = plan_lines(Plan(tasks=tasks, waves=(names,)), "ROADMAP.md", 80)
    assert {line.index("Do it") for line in lines[2:6]} == {8 + len(names[-1]) + 2}


def test_many_problems_of_one_kind_are_one_line_unless_all_are_asked_for() -> None:
    many = plan(read("".join(f"- [ ] 1.{number} Do thing {number}\n" for number in range(1, 31)).encode()))
    folded, unfolded = problem_lines(many, 100), problem_lines(many, 100, everything=True)
    assert folded[1:] == [
        "30 things to check before you spend money",
        "  30 tasks have no Verify: each ends held unless it makes a failing test pass",
        "    lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 18 more",
        "  milepost plan --all lists them",
        "",
    ]
    assert len(unfolded) == 33


def test_what_is_fatal_comes_first_and_is_never_folded() -> None:
    tasks = "".join(f"- [ ] 1.{number} Do thing {number}\n" for number in range(1, 9))
    broken = plan(read(f"{tasks}- [ ] 2.1 Last\n  - Depends on: 7.7\n".encode()))
    lines = problem_lines(broken, 100)
    assert lines[2].startswith("  line 10  error: 2.1 depends on '7.7'")
    assert plan_lines(broken, "R", 100)[-1] == "next   fix the roadmap, then: milepost plan"


def test_the_head_of_a_guess_is_broken_between_facts_and_what_comes_next_names_its_dialect() -> None:
    guessed = plan(read("- ✅ Parse\n- ⏳ Print\n".encode()))
    lines = plan_lines(guessed, "docs/TODO.md", 80)
    assert lines[:3] == [
        "docs/TODO.md · 2 tasks · 1 done · 1 open · 1 wave",
        "read as an emoji list (a guess: milepost plan --explain)",
        "",
    ]
    assert lines[-1] == "next   milepost run --dialect emoji"
    told = plan_lines(guessed, "docs/TODO.md", 80, agent="claude")
    assert told[-1] == "next   milepost run --agent claude --dialect emoji"
    nobody = plan_lines(guessed, "docs/TODO.md", 80, agent=None)[-1]
    assert (
        nobody
        == "next   milepost doctor   what agents need to work here; then: milepost run --agent NAME --dialect emoji"
    )


def test_when_it_is_strict_that_is_said() -> None:
    lines = plan_lines(planned(), "ROADMAP.md", 100, strict=True)
    assert "1 thing to check before you spend money; with --strict each one is fatal" in lines
    assert lines[-1] == "next   fix the roadmap, then: milepost plan --strict"


def test_proposals_are_lines_for_the_roadmap() -> None:
    text = "- [ ] 1.1 Rewrite everything from scratch, end-to-end\n  - [ ] Parse\n  - [ ] Show\n"
    lines = proposal_lines(proposals_for(plan(read(text.encode()))), 100)
    assert lines[1:] == [
        "  replace it with:",
        "",
        "  - [ ] 1.1.1 Parse",
        "  - [ ] 1.1.2 Show",
        "    - Depends on: 1.1.1",
    ]
    assert proposal_lines((), 100) == ["no open task is too big for one attempt"]
