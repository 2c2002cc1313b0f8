"""The mileposts, as a person and as a program read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, padded

if TYPE_CHECKING:
    from milepost import Milepost


def log_lines(posts: tuple[Milepost, ...], width: int) -> list[str]:
    """A line for each milepost."""
    if not posts:
        return ["no mileposts yet"]
    id_width = max(len(post.task) for post in posts)
    return [
        clipped(
            f"{post.commit[:7]}  {padded(post.task, id_width)}  {post.title}  (run {post.run}, attempt {post.attempt})",
            width,
        )
        for post in posts
    ]


def milepost_to_json(post: Milepost) -> dict[str, Any]:
    names = ("task", "title", "commit", "run", "attempt", "agent")
    return {name: getattr(post, name) for name in names}
