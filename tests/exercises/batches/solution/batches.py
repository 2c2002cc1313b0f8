"""Iterables in batches."""


def batches(items, size):
    """Lists of `size` items each; the last one holds what is left."""
    if size < 1:
        raise ValueError(f"a batch holds at least one item, not {size}")
    return _batches(items, size)


def _batches(items, size):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
