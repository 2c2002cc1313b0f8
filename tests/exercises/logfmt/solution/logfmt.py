"""Log lines such as `level=info msg="all is well" cached`."""

import re

_PAIR = re.compile(r'\s*([^\s="]+)(?:=("(?:[^"\\]|\\.)*"|[^\s"]*))?(?=\s|$)')


def parse(line: str) -> dict[str, object]:
    """The pairs of a line; a key alone is True."""
    pairs: dict[str, object] = {}
    at, line = 0, line.rstrip()
    while at < len(line):
        pair = _PAIR.match(line, at)
        if pair is None:
            raise ValueError(f"cannot read {line[at:]!r}")
        key, value = pair.groups()
        pairs[key] = True if value is None else _plain(value)
        at = pair.end()
    return pairs


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
