"""A process that reads the tags of one file after the other, and dies of one that takes too long.

Parsers are written in C and read what others wrote: some files keep one busy for minutes, and nothing can stop it but
the end of its process. On stdin comes, for each file, a line with its path and its size as JSON, and then its bytes; on
stdout goes one line of JSON. The end of stdin is its end.
"""

from __future__ import annotations

import json
import resource
import signal
import sys

from milepost.sources.tags import Tags, tags_of
from milepost.sources.tags_json import to_json

MOST_CPU_S = 3.0  # for one file: of the processor's time, so that a busy machine makes no difference
MOST_MEMORY = 2 * 1024**3


def main() -> None:
    """Read until there is nothing more."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    given, told = sys.stdin.buffer, sys.stdout.buffer
    while line := given.readline():
        path, size = json.loads(line)
        content = given.read(size)
        signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
        tags = tags_of(path, content) or Tags()
        signal.setitimer(signal.ITIMER_PROF, 0)
        told.write(f"{to_json(tags)}\n".encode())
        told.flush()


if __name__ == "__main__":
    main()
