"""Nearness in meaning by static word vectors; only with the extra `semantic`.

The vectors are the table that comes with wordllama, read here: its own loader asks the network for what it has on disk.
A text is the mean of the vectors of its pieces; no model runs.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any, Protocol

from milepost.core.errors import SettingInvalid
from milepost.memory.recall.index_rows import PAST, Entries, IndexEntry, Where

LONGEST_TEXT = 1_000
WIDTH = 256
BATCH = 500

_WITHOUT = """
    select entries.key, words.head || ' ' || words.body from entries
    join {kind}_words as words on words.rowid = entries.key
    where entries.kind = ? and not exists (select 1 from vectors where vectors.key = entries.key) limit ?
"""
_ALL = """
    select entries.key, entries.project, entries.outcome, vectors.vector from entries
    join vectors on vectors.key = entries.key where entries.kind = ? order by entries.key
"""


class Meaning(Protocol):
    """Finds what is near in meaning, whatever its words; the best first, with how near it is."""

    def nearest(self, entries: Entries, text: str, where: Where, most: int) -> list[tuple[IndexEntry, float]]: ...


def open_meaning() -> Meaning:
    """What finds by meaning; refused in one line where its packages are not installed."""
    try:
        numpy, tokenizers = importlib.import_module("numpy"), importlib.import_module("tokenizers")
        spec = importlib.util.find_spec("wordllama")
    except ImportError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise SettingInvalid("[memory] semantic needs the extra `semantic`", "pip install 'milepost[semantic]'")
    folder = Path(next(iter(spec.submodule_search_locations)))
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    return StaticVectors(numpy, tokenizer, _table(numpy, folder / "weights/l2_supercat_256.safetensors"))


class StaticVectors:
    """Keeps a vector for each entry in the cache, and all of a kind in memory."""

    def __init__(self, numpy: Any, tokenizer: Any, table: Any) -> None:
        self._np = numpy
        self._tokenizer = tokenizer
        self._table = table
        self._known: dict[str, tuple[object, list[tuple[int, str, str]], Any]] = {}

    def nearest(self, entries: Entries, text: str, where: Where, most: int) -> list[tuple[IndexEntry, float]]:
        """By the angle between the texts' vectors, over all entries that are meant."""
        rows, matrix = self._vectors(entries, where.kind)
        if not rows:
            return []
        scores = matrix @ self._embedded([text])[0]
        order = (int(place) for place in self._np.argsort(-scores))
        meant = ((rows[place][0], float(scores[place])) for place in order if _meant(rows[place], where))
        near = dict(pair for pair, _ in zip(meant, range(most), strict=False))
        return [(entry, near[entry.key]) for entry in entries.entries(near)]

    def _vectors(self, entries: Entries, kind: str) -> tuple[list[tuple[int, str, str]], Any]:
        stamp = entries.stamp()
        if kind not in self._known or self._known[kind][0] != stamp:
            self._fill(entries, kind)
            found = entries.db.execute(_ALL, (kind,)).fetchall()
            joined = b"".join(vector for *_, vector in found)
            matrix = self._np.frombuffer(joined, dtype="<f2").reshape(-1, WIDTH).astype("float32")
            self._known[kind] = stamp, [(key, project, outcome) for key, project, outcome, _ in found], matrix
        return self._known[kind][1:]

    def _fill(self, entries: Entries, kind: str) -> None:
        while found := entries.db.execute(_WITHOUT.format(kind=kind), (kind, BATCH)).fetchall():
            vectors = self._embedded([text for _, text in found]).astype("<f2")
            pairs = [(key, vector.tobytes()) for (key, _), vector in zip(found, vectors, strict=True)]
            entries.db.executemany("insert or replace into vectors values (?, ?)", pairs)

    def _embedded(self, texts: list[str]) -> Any:
        made = self._np.zeros((len(texts), WIDTH), dtype="float32")
        pieces = self._tokenizer.encode_batch([text[:LONGEST_TEXT] for text in texts], add_special_tokens=False)
        for place, piece in enumerate(pieces):
            if piece.ids:
                made[place] = self._table[piece.ids].mean(axis=0)
        return made / self._np.maximum(self._np.linalg.norm(made, axis=1, keepdims=True), 1e-9)


def _meant(row: tuple[int, str, str], where: Where) -> bool:
    _, project, outcome = row
    if where.live and outcome in PAST:
        return False
    return not where.project or (project != where.project) == where.elsewhere


def _table(numpy: Any, path: Path) -> Any:
    """The one tensor of a safetensors file: a length, a header that says where it is, the numbers."""
    held = path.read_bytes()
    length = int.from_bytes(held[:8], "little")
    (tensor,) = (each for name, each in json.loads(held[8 : 8 + length]).items() if name != "__metadata__")
    begin, end = tensor["data_offsets"]
    kinds = {"F16": "<f2", "F32": "<f4"}
    numbers = numpy.frombuffer(held[8 + length + begin : 8 + length + end], dtype=kinds[tensor["dtype"]])
    return numbers.reshape(tensor["shape"]).astype("float32")
