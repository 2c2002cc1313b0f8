"""The module that node loads before anything of the checkout, and the notes that it makes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from milepost.core.attempt import Workspace
from milepost.verify.suites.runners.flavours import REPORTERS
from milepost.verify.suites.runners.sealed import Seal
from milepost.verify.suites.suite import AuditNote
from milepost.verify.watched import Watched
from milepost.verify.witness.guest.other import UNKNOWN
from milepost.verify.witness.guest.watch import RUNS, STARTS


def variables(env: Mapping[str, str], seal: Seal, workspace: Workspace, watched: Watched | None) -> dict[str, str]:
    """The variable that has every node process of a run load the module; none where nothing is watched."""
    if watched is None:
        return {}
    tops = dict.fromkeys((str(workspace.folder), os.path.realpath(workspace.folder)))
    order = {
        "tops": list(tops),
        **asdict(watched),
        "marker": seal.marker,
        "unknown": UNKNOWN,
        "starts": STARTS,
        "runs": RUNS,
    }
    path = seal.path.with_suffix(".cjs")
    module = json.dumps(str(REPORTERS / "watch.cjs"))
    path.write_text(f"require({module})({json.dumps(order)});\n", encoding="utf-8")
    return {"NODE_OPTIONS": f'{env.get("NODE_OPTIONS", "")} --require "{path}"'.strip()}


def notes(report: Mapping[str, Any], said: str, marker: str, redact: Callable[[str], str]) -> tuple[AuditNote, ...]:
    """What was noted, each once: node's own runner has it in its report, the others in what they wrote."""
    found: list[dict[str, Any]] = list(report.get("notes", ()))
    for line in said.splitlines():
        if line.startswith(marker):
            with suppress(ValueError):
                found.append(json.loads(line.removeprefix(marker)))
    return tuple(
        dict.fromkeys(
            AuditNote(what=redact(str(each["what"])), path=redact(str(each["path"])), line=int(each["line"]))
            for each in found
        )
    )
