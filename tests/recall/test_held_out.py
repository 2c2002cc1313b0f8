"""How well a set is found that nothing was tuned on, beside full text alone and the latest first."""

from __future__ import annotations

import re
from contextlib import closing

from milepost.memory.memory import StoredMemory
from milepost.memory.recall.recall import Recaller
from milepost.store.database import open_database
from tests.recall.figures import figures, told
from tests.recall.held_out import NEWEST, PARAPHRASES, episodes, queries
from tests.recall.labelled import learn, remember, rows, unworded


def test_more_of_what_nothing_was_tuned_on_is_found_than_by_full_text_alone_and_by_the_latest_first() -> None:
    every = [*rows("episodes.jsonl"), *episodes()]
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database)
        remember(memory, every)
        learn(memory)
        with closing(Recaller(memory, index=None, now=lambda: float(NEWEST), rule=unworded)) as recaller:
            found = figures(recaller, every, queries())
    print(told(found))  # noqa: T201 - the figures are what it is for
    for other in ("full text alone", "latest first"):
        recall, mrr = found[other]["all"]
        assert found["ours"]["all"][0] > recall and found["ours"]["all"][1] > mrr, other


def test_a_paraphrase_shares_at_most_two_long_words_with_what_it_looks_for() -> None:
    shared = {asked: _long(f"{title} {text}") & _long(asked) for _, title, text, _, asked in PARAPHRASES}
    assert [(asked, words) for asked, words in shared.items() if len(words) > 2] == []


def _long(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{5,}", text.lower()))
