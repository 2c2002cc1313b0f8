"""What tests in a browser need of the machine: where it is absent they skip, or fail if it is required there."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from milepost.web import libraries
from tests import tools
from tests.live.installed import REQUIRED


def absence(environ: Mapping[str, str] = os.environ) -> str:
    """What is missing, and how to get it; nothing when all is there."""
    if importlib.util.find_spec("playwright") is None:
        return "the package playwright is not installed: make .venv/dev"
    browser = chromium(environ)
    if browser is None:
        return "there is no chromium: apt-get install --no-install-recommends chromium fonts-noto-core"
    if reason := tools.absence(str(browser)):
        return reason
    return libraries.missing()


def chromium(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The browser of the machine; none is downloaded."""
    found = shutil.which("chromium", path=environ.get("PATH"))
    return Path(found) if found else None


def need(lack: str, environ: Mapping[str, str] = os.environ) -> None:
    """Go on where nothing is lacking."""
    if lack:
        required = environ.get(REQUIRED, "").replace(" ", "").split(",")
        (pytest.fail if "web" in required else pytest.skip)(lack)
