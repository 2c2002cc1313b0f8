"""Links in a tree, by what they say: whether following one leads, or may lead, out of it."""

from __future__ import annotations

import posixpath

from milepost.core.change import ChangedFile


def leads_out(file: ChangedFile) -> bool:
    """Whether a path is a link to something that is not inside the tree, or to git's own folder."""
    if not file.is_link or file.after is None:
        return False
    target = file.text_after
    if target.startswith("/"):
        return True
    end = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), target))
    return end == ".." or end.startswith("../") or ".git" in end.split("/")


def may_lead_out(file: ChangedFile) -> bool:
    """Whether a link leads out, or goes down before it goes up: what it goes down into may be a link itself."""
    if not file.is_link or file.after is None:
        return False
    parts = [part for part in file.text_after.split("/") if part not in ("", ".")]
    first_name = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    return leads_out(file) or not parts or ".." in parts[first_name:]
