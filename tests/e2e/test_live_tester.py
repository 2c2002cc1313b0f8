"""A real program as the tester: Claude Code, with a scripted model, writes tests before another agent works."""

from __future__ import annotations

import shlex

from tests.e2e.conftest import Sandbox
from tests.e2e.test_independent_tests import HIDDEN, RIGHT, TASK, checks, told
from tests.e2e.test_proof import reasons, scripted, verdicts, write
from tests.fakes.model_server import ModelServer
from tests.live.installed import needed
from tests.live.stage import KEY, KNOWN

SETTINGS = """\
[verify]
tester = "claude"
[limits]
attempts = 1
[agents.claude]
program = "{program}"
model = "{model}"
base_url = "{address}"
env = {{ ANTHROPIC_API_KEY = "{key}" }}
"""


def test_claude_code_writes_tests_that_decide_another_agents_work(sandbox: Sandbox) -> None:
    program, known = needed("claude"), KNOWN["claude"]
    command = f"mkdir -p tests && printf %s {shlex.quote(HIDDEN)} > tests/test_square.py"
    answers = [{"text": "I write them.", "do": [{"command": command}]}, {"text": "Tests are written."}]
    with ModelServer({"tasks": {"T1": [answers]}}, sandbox.home / "log") as server:
        address = known.address(server)
        sandbox.write("milepost.toml", SETTINGS.format(program=program, model=known.model, address=address, key=KEY))
        sandbox.write("tests/test_readme.py", "def test_readme():\n    assert True\n")
        sandbox.roadmap(TASK)
        answer = sandbox.milepost("run", "--agent", scripted(sandbox, T1=[[write("area.py", RIGHT)]]), "--json")
        asked = server.questions[0].asked.told
    assert verdicts(answer) == {"T1": "passed"}, (reasons(answer), told(answer))
    (check,) = checks(sandbox, "independent tests")
    assert check["decisive"] and check["summary"].startswith("1 test that claude wrote before command:")
    assert "Another agent will do the task below after you have stopped" in asked
    costs = sandbox.milepost("costs", "--json").json
    paid = [(one["task"], one["agent"]) for one in costs["expenses"] if one["agent"] == "claude"]
    assert paid == [("T1", "claude")] and costs["spent"]["tokens"] > 0, costs
