"""The tools as a model is told of them, and their calls as people are."""

from __future__ import annotations

import shlex

from milepost.agents.models.model import ToolCall, ToolSpec
from milepost.agents.models.schema import object_of
from milepost.agents.shell_line import words_of
from milepost.agents.tool_agent.tools.todos import STATES

_PATH = {"type": "string", "minLength": 1, "description": "below the workspace, such as src/app.py"}
_GLOB = {"type": "string", "minLength": 1, "description": "such as *.py for a name anywhere, or src/**/test_*.py"}

FILES = (
    ToolSpec(
        name="ls",
        description="List the files below a folder; without a path, those of the whole workspace.",
        parameters=object_of({"path": _PATH}),
    ),
    ToolSpec(
        name="glob",
        description="Find files by their names. A pattern without a slash is held against the name alone.",
        parameters=object_of({"pattern": _GLOB, "path": _PATH}, required=("pattern",)),
    ),
    ToolSpec(
        name="grep",
        description="Search the lines of files for a regular expression; each line comes with its file and number.",
        parameters=object_of(
            {
                "pattern": {"type": "string", "minLength": 1, "description": "a regular expression"},
                "path": _PATH,
                "glob": _GLOB,
                "ignore_case": {"type": "boolean"},
            },
            required=("pattern",),
        ),
    ),
    ToolSpec(
        name="read_file",
        description="Read a text file; each line comes with its number. Lines are counted from 1.",
        parameters=object_of(
            {
                "path": _PATH,
                "offset": {"type": "integer", "minimum": 1, "description": "the first line to read"},
                "limit": {"type": "integer", "minimum": 1, "description": "how many lines to read"},
            },
            required=("path",),
        ),
    ),
    ToolSpec(
        name="write_file",
        description="Write a whole file. Folders on the way are made; what the file held before is replaced.",
        parameters=object_of({"path": _PATH, "content": {"type": "string"}}, required=("path", "content")),
    ),
    ToolSpec(
        name="edit_file",
        description="Replace text in a file that you have read. `old` must be in the file exactly once, "
        "unless replace_all is true.",
        parameters=object_of(
            {
                "path": _PATH,
                "old": {"type": "string", "minLength": 1},
                "new": {"type": "string"},
                "replace_all": {"type": "boolean"},
            },
            required=("path", "old", "new"),
        ),
    ),
    ToolSpec(
        name="delete",
        description="Delete a file.",
        parameters=object_of({"path": _PATH}, required=("path",)),
    ),
    ToolSpec(
        name="execute",
        description="Run a shell command in the workspace and read what it prints. Each begins at the top of the "
        "workspace, with nothing left of the one before.",
        parameters=object_of({"command": {"type": "string", "minLength": 1}}, required=("command",)),
    ),
)
# Taken as well, where a model gives a list of words instead of a line.
EXECUTE_WORDS = object_of({"argv": {"type": "array", "items": {"type": "string"}, "minItems": 1}}, required=("argv",))

TODOS = (
    ToolSpec(
        name="write_todos",
        description="Write down what is to do, in order, and how it stands; the list before is replaced.",
        parameters=object_of(
            {
                "todos": {
                    "type": "array",
                    "items": object_of(
                        {
                            "content": {"type": "string", "minLength": 1},
                            "status": {"type": "string", "enum": list(STATES)},
                        },
                        required=("content", "status"),
                    ),
                }
            },
            required=("todos",),
        ),
    ),
    ToolSpec(name="read_todos", description="Read the list of what is to do.", parameters=object_of({})),
)

TASK = ToolSpec(
    name="task",
    description="Let a helper do a part of the work, such as a long search, and read its last words. It works in the "
    "same workspace and knows nothing but what you write here; it cannot be asked back.",
    parameters=object_of({"description": {"type": "string", "minLength": 1}}, required=("description",)),
)

GIVE_UP = ToolSpec(
    name="give_up",
    description="End the attempt because the task cannot be done; say why.",
    parameters=object_of({"reason": {"type": "string"}}, required=("reason",)),
)

# Whatever may leave the workspace another one.
CHANGING = frozenset({"write_file", "edit_file", "delete", "execute"})


def argv_of(call: ToolCall) -> tuple[str, ...]:
    """The command that a call would run; empty when it runs none."""
    if call.name != "execute":
        return ()
    line, argv = call.arguments.get("command"), call.arguments.get("argv")
    if isinstance(line, str) and line.strip():
        return words_of(line)
    return tuple(map(str, argv)) if isinstance(argv, list) else ()


def narration(call: ToolCall) -> str:
    """What a call is about to do, in one short line for people."""
    given = call.arguments
    path = given.get("path", ".")
    match call.name:
        case "read_file":
            line = f"reading {path}"
        case "write_file":
            line = f"writing {path}"
        case "edit_file":
            line = f"editing {path}"
        case "delete":
            line = f"deleting {path}"
        case "ls":
            line = f"listing {path}"
        case "glob":
            line = f"looking for {given.get('pattern')} in {path}"
        case "grep":
            line = f"searching {path} for {given.get('pattern')}"
        case "execute":
            argv = given.get("argv")
            line = f"running {shlex.join(map(str, argv)) if isinstance(argv, list) else given.get('command', argv)}"
        case "write_todos":
            line = "noting what is to do"
        case "read_todos":
            line = "looking at what is to do"
        case "task":
            line = f"handing over: {given.get('description')}"
        case _:
            line = f"calling {call.name}"
    return " ".join(line.split())[:200]
