"""Words for addresses."""

import re
import unicodedata


def slugify(title: str) -> str:
    """The title in lower case, with a dash for whatever is no letter and no digit."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def unique(slugs: list[str]) -> list[str]:
    """The same slugs in the same order, numbered from the second of a kind."""
    taken = set(slugs)
    seen: set[str] = set()
    result = []
    for slug in slugs:
        name, number = slug, 1
        while name in seen or (number > 1 and name in taken):
            number += 1
            name = f"{slug}-{number}"
        seen.add(name)
        result.append(name)
    return result
