"""Lists in pages: what is listed beyond a page is had with the cursor that came with it."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

PAGE: Final = 100
_LISTS: Final = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_PREFIX: Final = "from-"


async def in_pages(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Answer a request for a list with one page of it; the SDK's server would send all of it whatever the cursor."""
    field = _LISTS.get(ctx.method)
    first = 0 if field is None else first_of((ctx.params or {}).get("cursor"))
    listed = await call_next(ctx)
    if field is None or not isinstance(listed, dict) or not isinstance(listed.get(field), list):
        return listed
    entries, following = page(listed[field], first)
    return {**listed, field: entries, **({"nextCursor": following} if following else {})}


def page(entries: list[Any], first: int) -> tuple[list[Any], str | None]:
    """The entries of one page, and the cursor of the next one if there is one."""
    end = first + PAGE
    return entries[first:end], f"{_PREFIX}{end}" if end < len(entries) else None


def first_of(cursor: object) -> int:
    """The place in a list that a cursor stands for; one that is not ours is an error of the client's."""
    if cursor is None:
        return 0
    place = cursor.removeprefix(_PREFIX) if isinstance(cursor, str) and cursor.startswith(_PREFIX) else ""
    if not (place.isascii() and place.isdigit() and len(place) < 10 and int(place) % PAGE == 0):
        raise MCPError(code=INVALID_PARAMS, message="this cursor is not from a list of this server: ask without one")
    return int(place)
