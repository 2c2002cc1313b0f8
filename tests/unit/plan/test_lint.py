"""What is said of tasks before money is spent: true, short, and with what to do."""

from __future__ import annotations

import pytest

from milepost.core.task import Plan
from milepost.plan.advice.complexity import TOO_BIG, complexity_of
from milepost.plan.graph.build_graph import plan
from milepost.plan.repository_facts import UNSEEN, RepositoryFacts
from milepost.roadmap import read

FILES = frozenset({"src/duration.py", "src/report.py", "src/report2.py", "README.md", "docs/use.md", "tests/test_a.py"})


def planned(roadmap: str, ground: RepositoryFacts = UNSEEN) -> Plan:
    return plan(read(roadmap.encode()), ground=ground)


def told(found: Plan, kind: str) -> list[str]:
    return [f"{problem.line}: {problem.message}" for problem in found.problems if problem.kind == kind]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Make it nicer", "nicer"),
        ("Improve things", "improve, things"),
        ("Various cleanups etc", "various, etc"),
        ("Polish", "polish"),
        ("Look into performance", "look into"),
        ("???", "???"),
    ],
)
def test_a_vague_task_is_told_with_the_words_that_make_it_so(title: str, words: str) -> None:
    said = f'1: 1.1 "{title}" is vague ({words}) and has no Verify: say what to change and how to check it'
    assert told(planned(f"- [ ] 1.1 {title}\n"), "vague") == [said]


@pytest.mark.parametrize(
    "task",
    [
        "Dark mode",
        "Improve the message of `parse` for an empty string",
        "Improve the wording of errors that people see when a bracket is missing",
        "Make it nicer\n  - Verify: `true`",
        "Make it nicer\n  - Files: README.md",
        "Polish the 404 page",
        "日本語の長いタイトルを表示する",
    ],
)
def test_what_says_something_definite_is_not_vague(task: str) -> None:
    assert told(planned(f"- [ ] 1.1 {task}\n"), "vague") == []


def test_a_task_of_one_word_is_vague() -> None:
    said = "is vague and has no Verify: say what to change and how to check it"
    assert told(planned("- [ ] Diplomacy\n"), "vague")[0].endswith(said)


@pytest.mark.parametrize(
    ("task", "is_too_big"),
    [
        ("Fix a typo in the README", False),
        ("Refactor `parse` into two functions", False),
        ("Add the endpoint /users, its tests and docs", False),
        ("Rewrite everything from scratch, end-to-end", True),
        ("Migrate the whole storage layer, the API and all the clients", True),
        ("Split the module\n  - Files: a, b, c, d, e, f, g, h, i, j\n" + "  - [ ] part\n" * 6, True),
        ("Do it\n" + "".join(f"  - [ ] step {number}\n" for number in range(14)) + "  - Files: a, b, c, d, e\n", True),
        ("Do it\n" + "".join(f"  - [x] step {number}\n" for number in range(14)), False),
    ],
)
def test_a_task_is_too_big_by_what_it_asks_for(task: str, is_too_big: bool) -> None:
    found = planned(f"- [ ] 1.1 {task}\n")
    assert bool(told(found, "too big")) is is_too_big
    assert (complexity_of(found.tasks[0]).score >= TOO_BIG) is is_too_big


def test_a_task_that_is_too_big_is_told_with_the_heaviest_reasons() -> None:
    (message,) = told(planned("- [ ] 1.1 Rewrite everything from scratch, end-to-end\n"), "too big")
    assert message.endswith(
        'is too big for one attempt ("rewrite", "everything", "from scratch", "end-to-end"): '
        "milepost plan --propose splits it"
    )


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            "Fix rounding\n  - Files: src/dration.py",
            "src/dration.py, which does not exist: did you mean src/duration.py?",
        ),
        (
            "Add rounding\n  - Files: src/dration.py",
            "src/dration.py, which does not exist: did you mean src/duration.py?",
        ),
        ("Fix it\n  - Files: duration.py", "duration.py, which does not exist: did you mean src/duration.py?"),
        ("Fix it\n  - Files: readme.md", "readme.md, which does not exist: did you mean README.md?"),
        (
            "Fix it\n  - Files: src/nothing.py",
            'src/nothing.py, which does not exist: fix the path, or say that it is new ("Create …")',
        ),
        (
            "Fix it\n  - Files: src/x.py, src/yyyy.py",
            'src/x.py and src/yyyy.py, which do not exist: fix the paths, or say that they are new ("Create …")',
        ),
    ],
)
def test_a_file_that_is_not_there_is_told(task: str, message: str) -> None:
    assert told(planned(f"- [ ] 1.1 {task}\n", RepositoryFacts(files=FILES)), "missing file") == [
        f"1: 1.1 names {message}"
    ]


@pytest.mark.parametrize(
    "task",
    [
        "Fix rounding\n  - Files: src/duration.py, ./README.md, src, docs/, src/*.py",
        "Create the module\n  - Files: src/dration.py",
        "Implement the parser\n  - Files: src/parser.py",
        "Fix it, with a test\n  - Files: src/duration.py, tests/test_duration.py",
        "Fix it\n  - Files: /etc/hosts, ../other/x.py, https://example.org/x.py, src/<name>.py, ~/x.py",
        "The first of its kind\n  - Files: web/app.tsx",
        "Third report\n  - Files: src/report3.py\n  - New: yes, a new one",
    ],
)
def test_what_a_task_makes_or_cannot_be_looked_for_is_not_missed(task: str) -> None:
    assert told(planned(f"- [ ] 1.1 {task}\n", RepositoryFacts(files=FILES)), "missing file") == []


def test_a_file_that_an_earlier_task_names_is_not_missed_again() -> None:
    roadmap = "- [ ] 1.1 Create the parser\n  - Files: src/parser.py\n- [ ] 1.2 Speed it up\n  - Files: src/parser.py\n"
    assert told(planned(roadmap, RepositoryFacts(files=FILES)), "missing file") == []


def test_where_nobody_looked_nothing_is_missed() -> None:
    assert told(planned("- [ ] 1.1 Fix it\n  - Files: src/nothing.py\n"), "missing file") == []


def test_programs_that_are_not_there_are_told_once_a_task() -> None:
    missing = {"nope --all": ("nope",), "./check.sh && nope": ("./check.sh", "nope")}
    roadmap = (
        "- [ ] 1.1 One\n  - Verify: `nope --all`\n  - Verify: `./check.sh && nope`\n"
        "- [ ] 1.2 Two\n  - Verify: `nope --all`\n  - Needs: gpu\n"
        "- [x] 1.3 Three\n  - Verify: `nope --all`\n"
    )
    assert told(planned(roadmap, RepositoryFacts(missing=missing)), "missing program") == [
        "1: 1.1 is verified by `nope`, not found on this machine: install it, or fix the Verify line",
        "1: 1.1 is verified by ./check.sh, which does not exist: fix the Verify line",
    ]


def test_a_quote_that_is_not_closed_is_told() -> None:
    roadmap = "- [ ] 1.1 One\n  - Verify: `grep -q \"x y a.txt`\n- [ ] 1.2 Two\n  - Verify: `true # don't`\n"
    (message,) = told(planned(roadmap), "unreadable")
    assert message.startswith("1: 1.1 is verified by ")


def test_tasks_that_speak_of_one_file_are_told_to_claim_it() -> None:
    roadmap = (
        "- [ ] 1.1 Sort the list in `src/a.py`\n  - Verify: `true`\n"
        "- [ ] 1.2 Trim names\n\n  As `src/a.py` does, with `profiles.id`.\n\n  - Verify: `true`\n"
        "- [ ] 1.3 Third\n  - Files: src/b.py\n  - Verify: `true`\n"
        "- [ ] 1.4 Drop `profiles.id` from `src/b.py`\n  - Verify: `true`\n  - Depends on: 1.3\n"
    )
    found = planned(roadmap)
    assert [problem.message for problem in found.problems] == [
        "1.1 and 1.2 both mention src/a.py: write `Files:` below them, or they may conflict"
    ]
    assert found.waves[0] == ("1.1", "1.2", "1.3")


def test_a_subtask_that_repeats_an_id_and_a_dependency_that_leads_nowhere_are_told() -> None:
    found = planned("- [ ] 1.1 One\n  - Verify: `a`\n- [ ] 1.1 Two\n  - Verify: `a`\n  - Depends on: 7.7\n")
    assert [(problem.kind, problem.fatal) for problem in found.problems] == [("same id", False), ("dependency", True)]


@pytest.mark.parametrize(
    ("title", "below", "named"),
    [
        ("Make src/report.py greet a name", "- Verify: python3 src/report.py Ada | grep Ada", "src/report.py"),
        ("Say in the README how to use it", "- Verify: grep -q Usage ./README.md", "README.md"),
        ("Say in the README how to use it", "- Files: README.md\n  - Verify: grep -q Usage README.md", ""),
        ("Parse hours", "- Verify: pytest tests/test_a.py", ""),
        ("Say it in NEWS.md", "- Verify: grep -q Usage NEWS.md", ""),
        ("Add cases to tests/test_a.py", "- Verify: pytest tests/test_a.py", ""),
        ("Make src/report.py short", "- Verify: grep -q short src/report.py", ""),
    ],
)
def test_a_file_that_a_task_is_about_and_its_line_reads_is_to_be_named(title: str, below: str, named: str) -> None:
    found = told(planned(f"- [ ] 1.1 {title}\n  {below}\n", RepositoryFacts(files=FILES)), "judge")

    said = f"1: 1.1 is verified with {named} as before the work, unless its Files name it: Files: {named}"
    assert found == ([said] if named else [])


def test_the_sample_tasks_of_init_are_told_until_they_are_written_over() -> None:
    assert told(
        planned("- [ ] 1.1 Describe the first task in one line\n  - Verify: test -s README.md\n"), "sample"
    ) == ['1: 1.1 "Describe the first task in one line" is the sample of milepost init: write your own task over it']
    assert told(planned("- [ ] 1.1 Describe the first duration\n  - Verify: test -s README.md\n"), "sample") == []
