"""Words for addresses."""

import re
import unicodedata


def slugify(title: str) -> str:
    """The title in lower case, with a dash for whatever is no letter and no digit."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
