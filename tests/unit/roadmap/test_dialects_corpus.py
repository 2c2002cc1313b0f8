"""Real roadmaps without boxes: each was looked at by eye, and what is written here is what a reader would take."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.task import Task
from milepost.roadmap import read, tick, untick
from milepost.roadmap.reading.explain import explain
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.read import survey

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus" / "roadmaps"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of roadmaps is not at {CORPUS}")

# The start of a file's name, its own name, the dialect, tasks done and open, and one of the open ones.
EXPECTED = [
    ("0003-YIDEV", "ROADMAP.md", "emoji", 2, 13, "Habilitar `pgvector` en Postgres."),
    ("011010", "ROADMAP.md", "table", 38, 3, "TUI dashboard. A live view of `ls`-equivalent data"),
    ("0625chopin__ALBAM_MARKET__docs__PRD", "PRD.md", "table", 13, 1, "경매 종료/낙찰/유찰"),
    ("0al-spec", "PRD.md", "bullets", 0, 6, "Write an enriched candidate copy under an explicit output directory."),
    ("ConaryLabs", "ROADMAP.md", "emoji", 40, 6, "Phase 10: Multi-Format Support"),
    ("ConnorGriffin", "ROADMAP.md", "emoji", 4, 4, "Trust ratchet"),
    ("DICKY1987__MINI_PIPE__DEVELOPMENT_TEMP_DOCS__TODO_VERSION", "TODO_VERSIONing.md", "boxes", 0, 0, ""),
    ("anomalyco__opencode__packages", "PLAN.md", "bullets", 0, 9, "Define Public Contracts"),
    (
        "anomalyco__opencode__specs",
        "todo.md",
        "bullets",
        0,
        9,
        "batch streamed deltas and add covering context",
    ),
    ("bmad-code-org", "prd-template.md", "boxes", 0, 0, ""),
    ("d-o-hub", "ROADMAP_VERSION_HISTORY.md", "emoji", 89, 10, "v0.1.5 - Configuration Optimization"),
    ("eyaltoledano__claude-task-master__.taskmaster__docs__prd", "prd.txt", "bullets", 0, 16, "Task Data Structure"),
    ("eyaltoledano__claude-task-master__.taskmaster__docs__task", "prd.txt", "bullets", 0, 12, "Enhanced Tag Registry"),
    ("eyaltoledano__claude-task-master__assets__example_prd.", "example_prd.txt", "boxes", 0, 0, ""),
    ("gsd-build__gsd-2__docs", "PRD.md", "bullets", 0, 28, "Remove `fix-merge` dispatch unit type from `auto.ts`"),
    ("mikeyobrien__ralph-orchestrator__.agents", "plan.md", "bullets", 0, 6, "Update `lib.rs` doc comment"),
    ("paperclipai", "ROADMAP.md", "emoji", 18, 10, "Memory / Knowledge"),
    ("ruvnet", "implementation-plan.md", "bullets", 0, 33, "Map all claude-flow swarm commands to benchmark tests"),
    ("steveyegge__beads", "TODO.md", "boxes", 0, 0, ""),
    ("steveyegge__gastown", "roadmap.md", "table", 7, 25, "Refinery agent stall"),
]


def everyone(content: bytes, manner: Manner) -> list[Task]:
    return [task for top in read(content, manner).tasks for task in top.walk()]


@pytest.mark.parametrize(("start", "name", "dialect", "done", "still_open", "title"), EXPECTED)
def test_a_real_roadmap_without_boxes_is_read_as_a_person_would(
    start: str, name: str, dialect: str, done: int, still_open: int, title: str
) -> None:
    (path,) = CORPUS.glob(f"{start}*")
    content, manner = path.read_bytes(), Manner(name=name)
    tasks = everyone(content, manner)
    counted = (sum(task.status == "done" for task in tasks), sum(task.status == "open" for task in tasks))
    assert (read(content, manner).dialect, *counted) == (dialect, done, still_open)
    assert not title or any(task.title.startswith(title) for task in tasks if task.status == "open")
    assert all(task.guess for task in tasks)


@pytest.mark.parametrize(("start", "name"), [(start, name) for start, name, *_ in EXPECTED])
def test_in_a_real_roadmap_a_tick_is_one_change_that_can_be_taken_back(start: str, name: str) -> None:
    (path,) = CORPUS.glob(f"{start}*")
    content, manner = path.read_bytes(), Manner(name=name)
    found = survey(content, manner)
    before = everyone(content, manner)
    for task in [task for task in before if task.status == "open" and task.id in found.boxes][:3]:
        ticked = tick(content, task.id, manner)
        after = everyone(ticked, manner)
        changed = [one.id for one, other in zip(before, after, strict=True) if one != other]
        assert changed == [task.id]
        mark = found.boxes[task.id]
        assert ticked == content[: mark.offset] + mark.done + content[mark.end :]
        again = everyone(untick(ticked, task.id, manner), manner)
        assert [(one.id, one.status) for one in again] == [(one.id, one.status) for one in before]


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*")), ids=lambda path: path.name[:40])
def test_what_is_explained_is_what_is_read(path: Path) -> None:
    content, manner = path.read_bytes(), Manner(name=path.name)
    told = explain(content, manner)
    taken = [remark.line for remark in told.remarks if remark.taken]
    assert sorted(taken) == sorted({task.line for task in everyone(content, manner)})
    assert all(remark.why for remark in told.remarks)
