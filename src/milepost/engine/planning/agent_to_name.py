"""The agent that a run of a plan has to be told. Read without the settings' classes: `plan` starts fast."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from milepost.core.own_files import SETTINGS_FILE
from milepost.core.task import Plan
from milepost.sandbox.read_plain import LARGEST_SETTINGS, read_plain

# In this order the first that can work here is taken: programs that are signed in, then our own with a model's key.
AGENTS = ("claude", "codex", "tool", "aider")


def agent_to_name(roadmap: Path, plan: Plan, environ: Mapping[str, str] = os.environ) -> str | None:
    """The first agent that is here, where neither settings nor tasks name one; empty where none has to be named.

    None where one has to be named and none is here.
    """
    settings = _settings(roadmap.absolute().parent / SETTINGS_FILE)
    still_open = (task for task in plan.tasks if task.status != "done")
    if _said(settings, "run", "agent") or environ.get("MILEPOST_AGENT") or all(task.agent for task in still_open):
        return ""
    has_model = bool(_said(settings, "model", "name") or environ.get("MILEPOST_MODEL"))
    here = (name for name in AGENTS if (has_model if name == "tool" else shutil.which(name, path=environ.get("PATH"))))
    return next(here, None)


def _said(settings: Mapping[str, Any], section: str, key: str) -> object:
    values = settings.get(section)
    return values.get(key) if isinstance(values, dict) else None


def _settings(path: Path) -> Mapping[str, Any]:
    """What the file says; nothing where it cannot be read, which a run will tell."""
    try:
        return tomllib.loads(read_plain(path, LARGEST_SETTINGS).decode()) if path.is_file() else {}
    except (OSError, ValueError):
        return {}
