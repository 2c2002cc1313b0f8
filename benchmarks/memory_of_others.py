"""mem0 and LangGraph's stores with the same tasks, in their own environment; prints one line of JSON.

    python benchmarks/memory_of_others.py NAME SIZE FOLDER SECONDS

Both want an embedder, mem0 also a model. Here the embedder is a hash of the words, which costs next to nothing, and no
model is asked (`infer=False`): what is measured is their own keeping and searching. What is not filled within the
seconds is measured as far as it came, and says so.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
import zlib
from pathlib import Path
from typing import Any, Protocol

os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="none", MEM0_DIR=str(Path(sys.argv[3]) / "mem0"))
began = time.process_time()
if sys.argv[1] == "mem0":
    import mem0  # type: ignore[import-not-found, unused-ignore]
    from mem0.embeddings.base import EmbeddingBase  # type: ignore[import-not-found, unused-ignore]
else:
    from langgraph.store.base import PutOp  # type: ignore[import-not-found, unused-ignore]
    from langgraph.store.memory import InMemoryStore  # type: ignore[import-not-found, unused-ignore]
    from langgraph.store.sqlite import SqliteStore  # type: ignore[import-not-found, unused-ignore]
IMPORT_S = time.process_time() - began

from memory_tasks import ADDS, queries, tasks  # noqa: E402

WIDTH = 256
BATCH = 500


class Kept(Protocol):
    """What keeps texts and finds them."""

    def fill(self, rows: list[tuple[str, str, str]]) -> None: ...
    def add(self, row: tuple[str, str, str]) -> None: ...
    def search(self, text: str) -> int: ...


def embedded(texts: list[str]) -> list[list[float]]:
    """Texts as numbers: each word counts in the place that its checksum names."""
    made = []
    for text in texts:
        vector = [0.0] * WIDTH
        for word in text.split():
            vector[zlib.crc32(word.encode()) % WIDTH] += 1.0
        made.append(vector)
    return made


class Mem0:
    def __init__(self, folder: Path) -> None:
        class Hashed(EmbeddingBase):  # type: ignore[misc, unused-ignore]
            def embed(self, text: str, memory_action: object = None) -> list[float]:
                return embedded([text])[0]

        store = {"path": str(folder / "qdrant"), "embedding_model_dims": WIDTH, "on_disk": True}
        config = {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(folder / "history.db"),
        }
        self._memory = mem0.Memory.from_config(config)
        self._memory.embedding_model = Hashed()

    def fill(self, rows: list[tuple[str, str, str]]) -> None:
        for row in rows:
            self.add(row)

    def add(self, row: tuple[str, str, str]) -> None:
        project, title, text = row
        self._memory.add(f"{title} {text}", user_id=project, infer=False)

    def search(self, text: str) -> int:
        return len(self._memory.search(text, filters={"user_id": "p0"}, top_k=5)["results"])


class LangGraph:
    def __init__(self, store: Any) -> None:
        self._store = store
        self._number = 0

    def fill(self, rows: list[tuple[str, str, str]]) -> None:
        self._store.batch(
            [PutOp((project,), self._name(), {"text": f"{title} {text}"}) for project, title, text in rows]
        )

    def add(self, row: tuple[str, str, str]) -> None:
        project, title, text = row
        self._store.put((project,), self._name(), {"text": f"{title} {text}"})

    def search(self, text: str) -> int:
        return len(self._store.search(("p0",), query=text, limit=5))

    def _name(self) -> str:
        self._number += 1
        return str(self._number)


def opened(name: str, folder: Path) -> Kept:
    index = {"dims": WIDTH, "embed": embedded, "fields": ["text"]}
    if name == "mem0":
        return Mem0(folder)
    if name == "langgraph-memory":
        return LangGraph(InMemoryStore(index=index))
    connection = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None)
    store = SqliteStore(connection, index=index)
    store.setup()
    return LangGraph(store)


def main() -> None:
    name, size, folder, seconds = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
    rows = list(tasks(size + ADDS))
    kept = opened(name, folder)
    until, filled = time.monotonic() + seconds, 0
    while filled < size and time.monotonic() < until:
        kept.fill(rows[filled : filled + BATCH][: size - filled])
        filled = min(size, filled + BATCH)
    begun = time.process_time()
    for row in rows[-ADDS:]:
        kept.add(row)
    add_ms = (time.process_time() - begun) / ADDS * 1_000
    taken, until = [], time.monotonic() + seconds
    for text in queries():
        begun = time.process_time()
        kept.search(text)
        taken.append((time.process_time() - begun) * 1_000)
        if time.monotonic() > until:
            break
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(json.dumps({"import_s": IMPORT_S, "filled": filled, "add_ms": add_ms, "search_ms": taken, "disk": disk}))


if __name__ == "__main__":
    main()
