"""A patch on a terminal, through a pager and with nothing in it that the terminal would obey; elsewhere as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milepost.attempts import Difference

_COLOURS = {"+": "32", "-": "31", "@": "36"}
_HEADS = ("diff --git ", "index ", "--- ", "+++ ", "new file", "deleted file", "similarity ", "rename ", "old mode")
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def page(patch: bytes) -> None:
    """Print a patch: for people on a terminal, for programs everywhere else."""
    if not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write(patch)
        sys.stdout.flush()
        return
    text = shown(patch, colours="NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb")
    pager = pager_command()
    if not pager or not text:
        print(text, end="")  # noqa: T201
        return
    environment = {"LESS": "FRX", "LV": "-c"} | dict(os.environ)
    with subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environment) as reader:  # noqa: S602
        try:
            reader.communicate(text.encode("utf-8", "replace"))
        except KeyboardInterrupt:  # it is the pager's
            reader.wait()


def pager_command() -> str:
    """What git would page with, as the user's variables say; empty for nothing."""
    named = os.environ.get("GIT_PAGER", os.environ.get("PAGER"))
    command = named if named is not None else ("less" if shutil.which("less") else "")
    return "" if command.strip() in ("", "cat") else command


def shown(patch: bytes, *, colours: bool) -> str:
    """A patch as a terminal may have it: signs that it would obey are written out."""
    lines = (visible(line) for line in patch.decode("utf-8", "backslashreplace").split("\n"))
    return "\n".join(coloured(line) if colours else line for line in lines)


def visible(line: str) -> str:
    """A line with every hidden or obeyed sign written out."""
    return "".join(
        sign.encode("unicode_escape").decode("ascii")
        if unicodedata.category(sign) in _HIDDEN and sign != "\t"
        else sign
        for sign in line
    )


def coloured(line: str) -> str:
    colour = "1" if line.startswith(_HEADS) else _COLOURS.get(line[:1], "")
    return f"\x1b[{colour}m{line}\x1b[m" if colour and line else line


def difference_to_json(found: Difference) -> dict[str, Any]:
    text = found.patch.decode("utf-8", "backslashreplace")
    return {"old": found.old, "new": found.new, "files": list(found.files), "patch": text}
