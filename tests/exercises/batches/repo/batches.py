"""Iterables in batches."""


def batches(items, size):
    """Lists of `size` items each."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
