"""Files that change as a whole, or not at all."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path):
    """A text file that takes the place of `path` when the block ends without an exception."""
    place = Path(path)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            yield file
        if place.exists():
            os.chmod(name, place.stat().st_mode & 0o7777)
        os.replace(name, place)
    except BaseException:
        os.unlink(name)
        raise
