"""Does the tasks of benchmarks/agents.py with mini-swe-agent; prints what was measured as JSON.

    python benchmarks/tool_agent_of_mini.py

For benchmarks/agents.py, which starts it with an interpreter that has mini-swe-agent. The agent, its prompts and
its environment are those of its own configuration; only the model is scripted.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from measuring import Watch
from minisweagent.agents.default import DefaultAgent  # type: ignore[import-not-found]
from minisweagent.config import get_config_from_spec  # type: ignore[import-not-found]
from minisweagent.environments.local import LocalEnvironment  # type: ignore[import-not-found]
from minisweagent.models.test_models import (  # type: ignore[import-not-found]
    DeterministicToolcallModel,
    make_toolcall_output,
)
from minisweagent.models.utils.actions_toolcall import BASH_TOOL  # type: ignore[import-not-found]
from tool_tasks import TASKS, Task, is_right, prepared

END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class Scripted(DeterministicToolcallModel):  # type: ignore[misc]
    def __init__(self, task: Task, **given: Any) -> None:
        commands = [step.command for step in task.steps] + [END]
        super().__init__(outputs=[_answer(str(n), command) for n, command in enumerate(commands)], **given)
        self.watch = Watch()

    def query(self, messages: list[dict[str, Any]], **given: Any) -> Any:
        told = [{key: value for key, value in message.items() if key != "extra"} for message in messages]
        self.watch.asked(len(json.dumps([told, BASH_TOOL], ensure_ascii=False)))
        answer = super().query(messages, **given)
        self.watch.answered()
        return answer


def main() -> None:
    config = get_config_from_spec("mini.yaml")
    for task in TASKS:
        print(json.dumps(_measured(task, config)), flush=True)


def _measured(task: Task, config: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = prepared(task, Path(place))
        model = Scripted(task, observation_template=config["model"]["observation_template"])
        environment = LocalEnvironment(cwd=str(folder), **config["environment"])
        templates = {name: config["agent"][name] for name in ("system_template", "instance_template")}
        ended = DefaultAgent(model, environment, cost_limit=0, **templates).run(task.text)
        right = ended["exit_status"] == "Submitted" and is_right(task, folder)
    # The last command only says that it is over, for which ours needs none.
    return {"right": right, "between_ms": model.watch.between_ms, "characters": model.watch.characters}


def _answer(number: str, command: str) -> Any:
    call = {
        "id": number,
        "type": "function",
        "function": {"name": "bash", "arguments": json.dumps({"command": command})},
    }
    return make_toolcall_output("I go on.", [call], [{"command": command, "tool_call_id": number}])


if __name__ == "__main__":
    main()
