"""How the program ends: one number for each way."""

from __future__ import annotations

DONE, NOT_DONE, MISUSED, INTERRUPTED = 0, 1, 2, 130
