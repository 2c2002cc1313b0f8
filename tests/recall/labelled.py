"""The labelled set, put into a memory, and what others would make of it."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.core.memories import Episode, EpisodeEnd, EpisodeStart, Lesson, LessonStanding
from milepost.core.verdict import Verdict
from milepost.memory.lessons.distil import wording
from milepost.memory.lessons.policy import why_hidden
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.signature import signatures
from milepost.memory.recall.words import words_of

HERE = Path(__file__).parent


def rows(name: str) -> list[dict[str, Any]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def remember(memory: StoredMemory, episodes: list[dict[str, Any]]) -> None:
    """Record the episodes as the engine would: with the signatures of their errors and the text of them as reason."""

    def record() -> None:
        for row in episodes:
            memory.record(_episode(row))

    memory.rows.together(record)


def learn(memory: StoredMemory) -> None:
    """Keep the lessons, with the words of the tasks that they were learnt from as key terms."""
    for row in rows("lessons.jsonl"):
        lesson = Lesson(
            id=row["id"],
            kind=row["kind"],
            project=row["project"],
            subject=row["subject"],
            text=row["text"],
            made_at=row["at"],
            terms=words_of(row["task"], *row["symbols"]),
            symbols=tuple(row["symbols"]),
            signature=row["subject"] if row["kind"] == "recovery" else "",
        )
        memory.lessons.keep(lesson, ["t00"], state="active")


class FullText:
    """What full text alone finds: every word of an episode, as it is, in one table for all projects."""

    def __init__(self, episodes: list[dict[str, Any]]) -> None:
        self._db = sqlite3.connect(":memory:")
        columns = "id unindexed, project unindexed, body, tokenize='porter unicode61'"
        self._db.execute(f"create virtual table words using fts5 ({columns})")
        for row in episodes:
            body = " ".join((row["title"], row["text"], *row["files"], row.get("error", "")))
            self._db.execute("insert into words values (?, ?, ?)", (row["id"], row["project"], body))

    def find(self, text: str, project: str = "") -> list[str]:
        """The best fifty, of one project where one is named."""
        expression = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w{2,}", text.lower())))
        sql = "select id from words where words match ? and ? in ('', project) order by rank limit 50"
        return [name for (name,) in self._db.execute(sql, (expression, project))]

    def close(self) -> None:
        self._db.close()


def latest_first(episodes: list[dict[str, Any]], project: str) -> list[str]:
    """What one gets who is shown the latest of the project."""
    own = [row for row in episodes if row["project"] == project]
    return [row["id"] for row in sorted(own, key=lambda row: -float(row["at"]))]


def _episode(row: dict[str, Any]) -> Episode:
    verdict = Verdict.PASSED if row["passed"] else Verdict.FAILED
    error = str(row.get("error", ""))
    start = EpisodeStart(
        id=row["id"],
        project=row["project"],
        title=row["title"],
        text=row["text"],
        files=tuple(row["files"]),
        started_at=row["at"],
    )
    end = EpisodeEnd(
        kind="success" if row["passed"] else "failure",
        ended_at=row["at"],
        verdict=verdict,
        reason=error,
        signatures=signatures(error),
    )
    return Episode(start=start, end=end)


def unworded(standing: LessonStanding) -> str:
    """The rule for who is shown a lesson, where its wording is not what is looked at."""
    text = "The check tests passed here by: `make`"
    usual = wording.usage("tide.mint", "a.py", "from tide import mint\nmint('inv')")
    lesson = standing.lesson
    worded = replace(lesson, text=text) if lesson.kind == "command" else replace(lesson, kind="usage", text=usual)
    return why_hidden(replace(standing, lesson=worded))
