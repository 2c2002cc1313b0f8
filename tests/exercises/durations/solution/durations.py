"""How long something takes."""

import re

UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text):
    """The seconds of a duration such as `90s` or `1h30m`."""
    parts = re.findall(r"([0-9]+)([smh])", text)
    units = {unit for _, unit in parts}
    if not parts or len(units) < len(parts) or "".join(map("".join, parts)) != text:
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(count) * UNITS[unit] for count, unit in parts)
