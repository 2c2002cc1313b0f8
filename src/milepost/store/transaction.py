"""A transaction in so many words, the same for both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def whole(run: Callable[[str], object], depth: int, begin: str) -> Iterator[None]:
    """All statements of a block, or none of them; a block within `depth` others is a part of those."""
    first, last, back = begin, "commit", "rollback"
    if depth:
        first = f"savepoint inner_{depth}"
        last, back = f"release {first}", f"rollback to {first}"
    run(first)
    try:
        yield
        run(last)
    except BaseException:
        with suppress(Exception):  # the database may have taken it back already, or be gone
            run(back)
        raise
