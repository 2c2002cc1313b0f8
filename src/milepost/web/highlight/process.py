"""Colours texts in a process of its own, because some texts take their lexer for ever, and nothing else can go on then.

    python -P -m milepost.web.highlight.process

It says when it is ready; then a line of JSON in, the name and the text, a line out, the rows. It ends by itself when a
text takes too long, whether or not anybody waits for it, and when nobody asks any more.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Final

from milepost.web.highlight.colours import coloured

PATIENCE_S: Final = 5.0


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks is interrupted, and ends it by asking no more
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _say("ready")
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
        path, text = json.loads(line)
        rows = coloured(path, text)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _say(rows)


def _say(value: object) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
