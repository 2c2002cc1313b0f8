"""A pocket."""

POCKET: list[str] = []
