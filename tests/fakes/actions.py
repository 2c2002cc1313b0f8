"""What a scripted model wants done, put into the tools that a request offers, whatever they are called there.

An action is one of:

    {"create": "path", "content": "…"}
    {"edit": "path", "old": "…", "new": "…"}
    {"read": "path"}
    {"command": "text for a shell"}
    {"finish": "what is said at the end"}

A program's own tool for it comes first, then a patch, then its shell. Arguments are named as the tool's schema names
them, and what it requires beside them is made up. To an agent that is offered no tools and asks for edit blocks, as
aider does, the actions are told as such blocks; to one that asks for Python, as code.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.fakes.wires.wire import Asked, Plain

Action = Mapping[str, str]

_PATH = ("file_path", "filePath", "absolute_path", "target_file", "path", "file")
_CONTENT = ("content", "file_text", "contents", "text")
_OLD = ("old_string", "old_str", "oldText", "old_text", "oldString", "old", "before", "search")
_NEW = ("new_string", "new_str", "newText", "new_text", "newString", "new", "after", "replace")
_COMMAND = ("command", "cmd", "argv", "commands", "script")
_WRITERS = ("write_file", "write", "create_file", "write_to_file", "text_editor")
_EDITORS = ("edit_file", "edit", "replace", "str_replace", "text_editor")
_READERS = ("read_file", "read", "view")
_SHELLS = ("bash", "shell", "exec_command", "shell_command", "run_shell_command", "execute", "execute_bash")
_PATCHERS = ("apply_patch",)


class NoTool(Exception):
    """Nothing that is offered can do it."""


def calls_for(actions: Sequence[Action], asked: Asked, folder: Path | None) -> list[Plain]:
    """The calls that do these actions with the tools that are offered."""
    return [_call(action, asked, folder) for action in actions]


def code_for(actions: Sequence[Action]) -> str:
    """The actions as a block of Python, as our own code agent runs it."""
    lines = "\n".join(_statement(action) for action in actions)
    return f"```python\n{lines}\n```"


def wants_code(asked: Asked) -> bool:
    """Whether the agent has no tools and runs Python from the text."""
    return not asked.tools and "call `final_answer`" in asked.told


def blocks_for(actions: Sequence[Action]) -> str:
    """The actions as edit blocks; what is not about a file cannot be told so."""
    return "\n".join(_block(action) for action in actions if "create" in action or "edit" in action)


def wants_blocks(asked: Asked) -> bool:
    """Whether the agent has no tools and reads edits from the text."""
    return not asked.tools and "SEARCH/REPLACE" in asked.system


def _call(action: Action, asked: Asked, folder: Path | None) -> Plain:
    match action:
        case {"create": path, "content": content}:
            return (
                _filled(asked, _WRITERS, folder, {_PATH: path, _CONTENT: content}, "create")
                or _patched(asked, _added(path, content))
                or _shell(asked, folder, f"printf %s {shlex.quote(content)} > {shlex.quote(path)}")
            )
        case {"edit": path, "old": old, "new": new}:
            return (
                _filled(asked, _EDITORS, folder, {_PATH: path, _OLD: old, _NEW: new}, "str_replace")
                or _patched(asked, _updated(path, old, new))
                or _shell(asked, folder, f"{shlex.join(_substitution(path, old, new))}")
            )
        case {"read": path}:
            found = _filled(asked, _READERS, folder, {_PATH: path}, "view")
            return found or _shell(asked, folder, f"cat {shlex.quote(path)}")
        case {"command": text}:
            return _shell(asked, folder, text)
        case _:
            raise NoTool(f"there is no such action: {dict(action)!r}")


def _tool(asked: Asked, names: tuple[str, ...]) -> str | None:
    """The tool that is offered under one of these names, perhaps behind the name of what brings it."""
    offered = {re.split(r"__|\.|/", name)[-1].lower(): name for name in asked.tools}
    return next((offered[name] for name in names if name in offered), None)


def _filled(
    asked: Asked, names: tuple[str, ...], folder: Path | None, values: Mapping[tuple[str, ...], str], verb: str
) -> Plain | None:
    if (tool := _tool(asked, names)) is None:
        return None
    schema = asked.tools[tool]
    known = schema.get("properties") or {}
    arguments: Plain = {}
    for keys, value in values.items():
        if (key := next((key for key in keys if key in known), None)) is None:
            return None
        # Milepost's own tools take paths of the workspace, most others only absolute ones.
        absolute = folder is not None and key in _PATH and key != "path"
        arguments[key] = str(Path(folder or ".") / value) if absolute else value
    if verb in (known.get("command") or {}).get("enum", ()):
        arguments["command"] = verb
    return {"name": tool, "arguments": _with_required(schema, arguments)}


def _shell(asked: Asked, folder: Path | None, text: str) -> Plain:
    if (tool := _tool(asked, _SHELLS)) is None:
        raise NoTool(f"nothing that is offered runs {text!r}: {', '.join(asked.tools) or 'no tools'}")
    schema = asked.tools[tool]
    known = schema.get("properties") or {}
    key = next((key for key in _COMMAND if key in known), _COMMAND[0])
    listed = "array" in str((known.get(key) or {}).get("type"))
    return {"name": tool, "arguments": _with_required(schema, {key: ["sh", "-c", text] if listed else text})}


def _patched(asked: Asked, change: str) -> Plain | None:
    if (tool := _tool(asked, _PATCHERS)) is None:
        return None
    patch = f"*** Begin Patch\n{change}*** End Patch\n"
    if tool in asked.freeform:
        return {"name": tool, "arguments": patch}
    schema = asked.tools[tool]
    key = next((key for key in ("input", "patch", "patchText") if key in (schema.get("properties") or {})), "input")
    return {"name": tool, "arguments": _with_required(schema, {key: patch})}


def _added(path: str, content: str) -> str:
    return f"*** Add File: {path}\n" + "".join(f"+{line}\n" for line in content.splitlines())


def _updated(path: str, old: str, new: str) -> str:
    lines = [*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines())]
    return f"*** Update File: {path}\n@@\n" + "".join(f"{line}\n" for line in lines)


def _substitution(path: str, old: str, new: str) -> list[str]:
    change = "import sys; p, a, b = sys.argv[1:]; t = open(p).read(); t.index(a); open(p, 'w').write(t.replace(a, b))"
    return ["python3", "-c", change, path, old, new]


def _statement(action: Action) -> str:
    match action:
        case {"create": path, "content": content}:
            return f"open({path!r}, 'w').write({content!r})"
        case {"edit": path, "old": old, "new": new}:
            return f"execute({_substitution(path, old, new)!r})"
        case {"read": path}:
            return f"print(open({path!r}).read())"
        case {"command": text}:
            return f"print(execute(['sh', '-c', {text!r}]))"
        case {"finish": said}:
            return f"final_answer({said!r})"
        case _:
            raise NoTool(f"there is no such action: {dict(action)!r}")


def _with_required(schema: Plain, arguments: Plain) -> Plain:
    known = schema.get("properties") or {}
    missing = [name for name in schema.get("required") or () if name not in arguments]
    return arguments | {name: _made_up(known.get(name) or {}) for name in missing}


def _made_up(schema: Plain) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    made: dict[str, Any] = {"integer": 30, "number": 30, "boolean": False, "array": [], "object": {}}
    return made.get(kind[0] if isinstance(kind, list) else str(kind), "a scripted step")


def _block(action: Action) -> str:
    path = action.get("create", action.get("edit", ""))
    old, new = action.get("old", ""), action.get("new", action.get("content", ""))
    before = old if not old or old.endswith("\n") else f"{old}\n"
    after = new if not new or new.endswith("\n") else f"{new}\n"
    return f"{path}\n```\n<<<<<<< SEARCH\n{before}=======\n{after}>>>>>>> REPLACE\n```\n"
