"""Search by meaning, with the extra `semantic`."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from contextlib import closing

import pytest

from milepost.core.errors import SettingInvalid
from milepost.core.memories import Query
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.recall import Recaller
from milepost.memory.recall.semantic import open_meaning
from milepost.store.database import open_database
from tests.recall.labelled import learn, remember, rows, unworded

THERE = all(importlib.util.find_spec(name) for name in ("numpy", "tokenizers", "wordllama"))


@pytest.mark.skipif(THERE, reason="the extra `semantic` is installed")
def test_who_asks_for_it_without_the_extra_is_told_what_to_install() -> None:
    with pytest.raises(SettingInvalid) as refused:
        open_meaning()
    assert refused.value.advice == "pip install 'milepost[semantic]'"


def test_by_default_no_numbers_are_crunched() -> None:
    program = "import sys, milepost.memory.recall.recall; assert not {'numpy', 'tokenizers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(not THERE, reason="needs the extra `semantic`: numpy, tokenizers, wordllama")
def test_it_finds_paraphrases_that_words_do_not_and_still_tells_unrelated_tasks_nothing() -> None:
    questions = [row for row in rows("queries.jsonl") if row["kind"] == "paraphrase"]
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database)
        remember(memory, rows("episodes.jsonl"))
        learn(memory)
        plain, meant = (
            Recaller(memory, index=None, rule=unworded),
            Recaller(memory, index=None, meaning=open_meaning(), rule=unworded),
        )
        with closing(plain), closing(meant):
            assert _hits(meant, questions) > _hits(plain, questions)
            for task in rows("tasks.jsonl"):
                lines = meant.recall(Query(project="tidewater", text=task["text"])).lines
                assert len(lines) <= 3 and (task["needs"] or not lines)


def _hits(recaller: Recaller, questions: list[dict[str, str]]) -> int:
    found = ([each.id for each in recaller.search(row["text"], row["project"], 5)] for row in questions)
    return sum(row["expected"] in names for row, names in zip(questions, found, strict=True))
