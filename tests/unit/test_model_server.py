"""The scripted model: which answer is asked for, and what is wanted put into the tools that are offered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.script import question_of, said_to, scripted
from tests.fakes.wires import wire_at
from tests.fakes.wires.wire import Asked, Said, Turn

CREATE = {"create": "a.py", "content": "a = 1\n"}
EDIT = {"edit": "a.py", "old": "a = 1\n", "new": "a = 2\n"}
READ = {"read": "a.py"}
RUN = {"command": "make it"}


def taking(*names: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names} | more, "required": []}


CLAUDE = {
    "Write": taking("file_path", "content"),
    "Edit": taking("file_path", "old_string", "new_string"),
    "Read": taking("file_path"),
    "Bash": taking("command", "description"),
}
CODEX = {"exec_command": taking("cmd", "workdir"), "apply_patch": {}}
GOOSE = {
    "developer__write": taking("path", "content"),
    "developer__edit": taking("path", "before", "after"),
    "developer__shell": taking("command"),
}
OURS = {
    "write_file": taking("path", "content"),
    "edit_file": taking("path", "old", "new"),
    "read_file": taking("path"),
    "execute": taking(argv={"type": "array"}),
}
SHELL = {"shell": {**taking(command={"type": "array"}, why={"enum": ["a", "b"]}), "required": ["command", "why"]}}


@pytest.mark.parametrize(
    ("tools", "action", "name", "arguments"),
    [
        (CLAUDE, CREATE, "Write", {"file_path": "/w/a.py", "content": "a = 1\n"}),
        (CLAUDE, EDIT, "Edit", {"file_path": "/w/a.py", "old_string": "a = 1\n", "new_string": "a = 2\n"}),
        (CLAUDE, RUN, "Bash", {"command": "make it"}),
        (CODEX, CREATE, "apply_patch", "*** Begin Patch\n*** Add File: a.py\n+a = 1\n*** End Patch\n"),
        (CODEX, EDIT, "apply_patch", "*** Begin Patch\n*** Update File: a.py\n@@\n-a = 1\n+a = 2\n*** End Patch\n"),
        (CODEX, READ, "exec_command", {"cmd": "cat a.py"}),
        (GOOSE, EDIT, "developer__edit", {"path": "a.py", "before": "a = 1\n", "after": "a = 2\n"}),
        (GOOSE, READ, "developer__shell", {"command": "cat a.py"}),
        (OURS, CREATE, "write_file", {"path": "a.py", "content": "a = 1\n"}),
        (OURS, RUN, "execute", {"argv": ["sh", "-c", "make it"]}),
        (SHELL, CREATE, "shell", {"command": ["sh", "-c", "printf %s 'a = 1\n' > a.py"], "why": "a"}),
    ],
)
def test_what_is_wanted_is_put_into_the_tools_that_are_offered(
    tools: dict[str, Any], action: dict[str, str], name: str, arguments: Any
) -> None:
    free = frozenset(["apply_patch"])
    said = _said(Asked(model="m", streaming=False, system="", turns=(), tools=tools, freeform=free), action)

    assert [(call.name, call.arguments) for call in said.calls] == [(name, arguments)]
    assert said.finish == "calls"


def test_an_agent_without_tools_that_reads_edit_blocks_is_told_blocks() -> None:
    asked = Asked(model="m", streaming=False, system="All changes must use a *SEARCH/REPLACE block*.", turns=())

    said = _said(asked, CREATE, EDIT, RUN)

    assert not said.calls
    assert said.text.startswith("a.py\n```\n<<<<<<< SEARCH\n=======\na = 1\n>>>>>>> REPLACE\n```\n")
    assert "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE" in said.text


def test_an_agent_without_tools_that_writes_python_is_told_code_and_any_other_the_last_words() -> None:
    prompt = Turn(speaker="person", text="When the task is done, call `final_answer`.")
    asked = Asked(model="m", streaming=False, system="", turns=(prompt,))

    said = _said(asked, CREATE, {"finish": "All done."})

    assert said.text == "```python\nopen('a.py', 'w').write('a = 1\\n')\nfinal_answer('All done.')\n```"
    assert _said(replace(asked, tools=OURS), {"finish": "All done."}).text == "All done."


def test_what_no_tool_can_do_is_said_and_not_left_out() -> None:
    said = _said(Asked(model="m", streaming=False, system="", turns=(), tools={"ls": taking("path")}), RUN)

    assert not said.calls
    assert said.text == "This script cannot be played: nothing that is offered runs 'make it': ls"


def _said(asked: Asked, *actions: dict[str, str]) -> Said:
    wire = wire_at("/v1/chat/completions")
    assert wire is not None
    question = replace(question_of(wire, "", {}, {"messages": []}), asked=asked)
    return said_to(question, {"do": actions}, Path("/w"))


TASK = "# Task 2: Do\n\nThis is attempt 3.\n"


CALL = {"id": "call-1-1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("path", "body", "answer"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": TASK}]}, 1),
        (  # examples before the prompt, as aider has them
            "/v1/chat/completions",
            {
                "messages": [
                    {"role": "user", "content": "These are the files."},
                    {"role": "assistant", "content": "Ok."},
                    {"role": "user", "content": TASK},
                ]
            },
            1,
        ),
        (  # a reminder after an answer that could not be sent back
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": TASK}, {"role": "user", "content": "Again."}]},
            1,
        ),
        (  # one answer told as two messages, as Goose does
            "/v1/chat/completions",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": TASK}]},
                    {"role": "assistant", "content": "I look."},
                    {"role": "assistant", "tool_calls": [CALL]},
                    {"role": "tool", "content": "a.py"},
                ]
            },
            2,
        ),
        (  # the calls of one answer with their results between them
            "/v1/responses",
            {
                "input": [
                    {"role": "user", "content": [{"type": "input_text", "text": "<cwd>/w</cwd>"}]},
                    {"role": "user", "content": [{"type": "input_text", "text": TASK}]},
                    {"type": "function_call", "call_id": "call-1-1", "name": "ls", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "call-1-1", "output": "a.py"},
                    {"type": "function_call", "call_id": "call-1-2", "name": "ls", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "call-1-2", "output": "a.py"},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
                ]
            },
            3,
        ),
        (
            "/v1/messages?beta=true",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "a hint"}, {"type": "text", "text": TASK}]},
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "text", "text": "I look."},
                            {"type": "tool_use", "id": "call-1-1", "name": "ls", "input": {}},
                        ],
                    },
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call-1-1", "content": "a"}]},
                ]
            },
            2,
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            {
                "contents": [
                    {"role": "user", "parts": [{"text": TASK}]},
                    {"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"name": "ls", "args": {}}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "a"}}}]},
                ]
            },
            2,
        ),
    ],
)
def test_a_conversation_says_which_answer_of_which_attempt_is_asked_for(
    path: str, body: dict[str, Any], answer: int
) -> None:
    wire = wire_at(path)
    assert wire is not None
    question = question_of(wire, path, {}, body)
    script = {"tasks": {"2": [[{"text": "never"}], [{"text": f"second {number}"} for number in range(1, 5)]]}}

    assert (question.task, question.attempt, question.answer) == ("2", 3, answer)
    assert scripted(script, question) == {"text": f"second {answer}"}


def test_a_question_what_to_call_the_work_is_none_of_the_work() -> None:
    wire = wire_at("/v1/chat/completions")
    assert wire is not None
    title = [
        {"role": "system", "content": "Generate a short title (four words or less) for this conversation."},
        {"role": "user", "content": TASK},
    ]
    work = [{"role": "user", "content": TASK + "\nGive the page a title.\n"}]

    assert question_of(wire, "", {}, {"messages": title}).aside
    assert not question_of(wire, "", {}, {"messages": work}).aside
