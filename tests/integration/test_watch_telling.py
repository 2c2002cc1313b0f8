"""The watcher tells others of alerts without waiting for them, and again where that failed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from milepost.engine.watching.watcher import watching
from tests.integration.repositories import new_place


def test_what_could_not_be_told_is_told_by_the_next_watcher(tmp_path: Path) -> None:
    place = new_place(tmp_path)
    out, ready = tmp_path / "out", tmp_path / "ready"
    script = f"import os, sys; open({str(out)!r}, 'a').write(sys.stdin.read() + chr(10)); os.stat({str(ready)!r})"
    place.write("milepost.toml", f"[watch]\ncommand = {json.dumps([sys.executable, '-c', script])}\n")
    for told_before in (0, 1, 2):
        with watching(place.top / "ROADMAP.md", "local", "dev", None) as (watcher, _):
            if not told_before:
                watcher._book.note("roll back 2", "begun", "it fails", 1.0)
            watcher.look()
        ready.touch()
    told = [json.loads(line)["alerts"][0]["alert"] for line in out.read_text().splitlines()]
    assert told == ["roll back 2", "roll back 2"]  # once in vain, then never again
