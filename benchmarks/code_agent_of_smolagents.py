"""Does the tasks of benchmarks/agents.py with smolagents' CodeAgent; prints what was measured as JSON.

    python benchmarks/code_agent_of_smolagents.py usual|quiet

For benchmarks/agents.py, which starts it with an interpreter that has smolagents. `usual` is as it comes, `quiet`
without the log that it prints.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from code_tasks import TASKS, Task
from measuring import Watch
from smolagents import CodeAgent, Model, tool  # type: ignore[import-not-found]
from smolagents.models import ChatMessage, MessageRole  # type: ignore[import-not-found]
from smolagents.monitoring import LogLevel, TokenUsage  # type: ignore[import-not-found]


class Scripted(Model):  # type: ignore[misc]
    def __init__(self, task: Task) -> None:
        super().__init__(model_id="scripted")
        self._steps = list(task.steps)
        self.watch = Watch()

    def generate(self, messages: list[Any], stop_sequences: Any = None, **_: Any) -> Any:
        self.watch.asked(sum(len(_text(message)) for message in messages))
        said = f"I go on.\n<code>\n{self._steps.pop(0)}\n</code>"
        answer = ChatMessage(role=MessageRole.ASSISTANT, content=said, token_usage=TokenUsage(1, 1))
        self.watch.answered()
        return answer


def main() -> None:
    level = {"usual": LogLevel.INFO, "quiet": LogLevel.OFF}[sys.argv[1]]
    for task in TASKS:
        print(json.dumps(_measured(task, level)), flush=True)


def _measured(task: Task, level: Any) -> dict[str, Any]:
    model = Scripted(task)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        agent = CodeAgent(tools=_tools(), model=model, max_steps=50, verbosity_level=level)
        answer = agent.run(task.text)
    watch = model.watch
    return {
        "right": answer == task.answer,
        "between_ms": watch.between_ms,
        "characters": watch.characters,
    }


def _tools() -> list[Any]:
    @tool  # type: ignore[untyped-decorator]
    def read_file(path: str) -> str:
        """The text of a file.

        Args:
            path: where it is
        """
        return Path(path).read_text()

    @tool  # type: ignore[untyped-decorator]
    def write_file(path: str, content: str) -> None:
        """Make a file hold a text.

        Args:
            path: where it is
            content: the text
        """
        Path(path).write_text(content)

    return [read_file, write_file]


def _text(message: Any) -> str:
    content = message.content if hasattr(message, "content") else message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
