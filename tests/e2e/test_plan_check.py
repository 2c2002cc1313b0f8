"""`plan --check`: what the Verify lines say before anybody is paid."""

from __future__ import annotations

from tests.e2e.conftest import Sandbox

ROADMAP = """\
- [ ] T1 Add triple to area.py
  - Verify: python -c "import area; area.triple(1)"
- [ ] T2 Add a helper
  - Verify: python -m pytest -q
- [ ] T3 Add nothing that is tested
  - Verify: python -m pytest -q -k no_such_test
- [ ] T4 Use a tool
  - Verify: no-such-program --check
- [ ] T5 Rename `square` to `squared`
  - Verify: python -m pytest -q
- [ ] T6 Add volume.py
  - Verify: python -c "import volume"
- [ ] T7 Send mail
  - Verify: python -c "import some_package_that_nobody_has"
- [ ] T8 Without a line
- [x] T9 Done
  - Verify: false
"""


def test_each_line_is_told_by_what_it_shows_before_the_work(sandbox: Sandbox) -> None:
    sandbox.write("area.py", "def square(x):\n    return x * x\n")
    sandbox.write("tests/test_area.py", "from area import square\n\ndef test_square():\n    assert square(2) == 4\n")
    sandbox.roadmap(ROADMAP)
    answer = sandbox.milepost("plan", "--check", "--json")
    assert answer.code == 0, answer.stderr
    found = {one["task"]: (one["state"], one["why"]) for one in answer.json["checked"]}
    assert found == {
        "T1": ("fails now", ""),
        "T2": ("passes already", "it shows nothing"),
        "T3": ("selects no test", "a line that runs no test shows nothing"),
        "T4": ("cannot run", "not found: no-such-program"),
        "T5": ("passes already", "as it must: the task changes no behaviour"),
        "T6": ("fails now", ""),
        "T7": ("fails now", ""),
    }
    assert sandbox.git("status", "--porcelain") == ""
    assert "checked" not in sandbox.milepost("plan", "--json").json


def test_people_are_told_in_one_line_each_and_a_missing_package_is_named(sandbox: Sandbox) -> None:
    sandbox.write("tests/test_mail.py", "import some_package\n\ndef test_mail():\n    assert some_package\n")
    sandbox.roadmap("- [ ] T1 Send mail\n  - Verify: python -m pytest -q\n- [ ] T2 Nothing\n  - Verify: true\n")
    answer = sandbox.milepost("plan", "--check")
    assert answer.code == 0, answer.stderr
    told = [line for line in answer.stdout.splitlines() if line.startswith("check")]
    assert told == [
        "check  T1  `python -m pytest -q` cannot run: some_package is not installed here",
        "check  T2  `true` passes already: it shows nothing",
    ]
    assert "checking `true`" in answer.stderr


def test_an_invalid_roadmap_is_not_checked(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] T1 One\n  - Depends on: T2\n  - Verify: true\n- [ ] T2 Two\n  - Depends on: T1\n")
    answer = sandbox.milepost("plan", "--check", "--json")
    assert (answer.code, answer.json["checked"]) == (1, [])

    assert "check  no Verify line was run: the roadmap has errors" in sandbox.milepost("plan", "--check").stdout
