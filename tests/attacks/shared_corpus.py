"""The attacks of a corpus that others share with us, in our shape. It lies beside this repository, or is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.attacks import attack as bounds
from tests.attacks.attack import BROKE_OUT, Attack, Style

PLACE = Path(__file__).parents[3] / "shared/corpus/attacks/python.json"

# Its placeholders, and the names by which ours are known.
_NAMES = {
    "@SECRET@": "{SECRET}", "@OUT@": "{OUT}", "@WS@": "{WORK}", "@UNIX@": "{UNIX}", "@ABS@": "{ABSTRACT}",
    "@META@": "{METADATA}", "@LISTEN@": "{FREE}", "@HOSTPID@": "{HOST}", "@HOSTPGID@": "{HOST}", "@DISKDEV@": "1, 5",
}  # fmt: skip
# What its bombs print, and from which figure on they had more than they were given.
_TOO_MUCH = {"forks": ("FORKS", 2 * bounds.PROCESSES), "mem": ("MEM", bounds.MEMORY_MB), "multimem": ("MULTIMEM", 8)}


def attacks(place: Path = PLACE) -> list[Attack]:
    """All of them, without those that only lie about their own value; none when the corpus is not there."""
    if not place.exists():
        return []
    return [_read(entry) for entry in json.loads(place.read_text()) if not entry.get("selflie")]


def _read(entry: dict[str, Any]) -> Attack:
    figure, most = _TOO_MUCH.get(entry.get("bound", ""), ("", 0))
    return Attack(
        name=f"shared {entry['id']}: {entry['title']}",
        oracle=entry["oracle"],
        code=_RUN.format(code=entry["code"], names=_NAMES, figure=figure, most=most),
        timeout_s=min(entry.get("timeout", 3.0), 6.0),
        ways=("executor",),
        proof=_PROOF if entry["oracle"] == "token" else BROKE_OUT,
        control=_control(entry),
        listens=entry.get("probe_listen", False),
    )


def _control(entry: dict[str, Any]) -> Style:
    """A host is harmed by what runs within it, and has no other way to end it; all else a plain child can do."""
    harms_host = entry["oracle"] == "host" and entry["cls"] != "proc"
    return "in process" if harms_host or entry.get("bound") == "time" else "in a child"


_PROOF = "[A-Z]{3,}-OK"
# The code is filled and run inside, where the names are known; figures that it tells are judged at once.
_RUN = """
import builtins, re
_code = {code!r}
for _sign, _name in {names!r}.items():
    _code = _code.replace(_sign, _name.format(**globals()).lstrip(chr(0)))
def print(*values, **more):
    _text = " ".join(map(str, values))
    _found = re.search(r"{figure}=([0-9]+)", _text) if {figure!r} else None
    if _found and int(_found[1]) >= {most}: broke()
    builtins.print(*values, **more)
exec(_code)
"""
