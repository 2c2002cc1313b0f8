"""What pages may do in a browser: the headers of every answer, the page's own and those of previews."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

_ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
_SANDBOX: Final = "sandbox allow-scripts allow-forms"


def page_policy(frames: tuple[str, ...]) -> dict[str, str]:
    """For the page: nothing but our own files is run or loaded, no text becomes markup; `frames` may be shown in it."""
    rules = (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        f"frame-src {_listed(frames)}", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    )  # fmt: skip
    own = {"x-frame-options": "DENY", "cross-origin-resource-policy": "same-origin"}
    return {**_ALWAYS, **own, "content-security-policy": "; ".join(rules)}


def report_policy(page: str) -> dict[str, str]:
    """For a report: it loads nothing at all, and says itself which style and script are its own."""
    rules = ("default-src 'none'", "style-src 'unsafe-inline'", "script-src 'unsafe-inline'", "img-src data:")
    return _preview_policy(rules, page)


def app_policy(page: str) -> dict[str, str]:
    """For a built app: it may do what it likes with its own files, and reaches nothing else.

    In its sandbox it has no origin, so even its own files are another's: whoever knows their address may load them.
    """
    loads = "'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:"
    rules = (f"default-src {loads}", "form-action 'self'", "base-uri 'self'", "object-src 'none'")
    shared = {"access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin"}
    return {**_preview_policy(rules, page), **shared}


def under_policy(send: Send, policy: dict[str, str], path: str) -> Send:
    """Sends an answer with the headers of a policy, whoever gives it; only files may be kept, and are asked about."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(policy)
            headers.setdefault("cache-control", "no-cache" if path.startswith("/static/") else "no-store")
        await send(message)

    return sending


def _preview_policy(rules: tuple[str, ...], page: str) -> dict[str, str]:
    held = (*rules, f"frame-ancestors {_listed((page,))}", _SANDBOX)
    return {**_ALWAYS, "content-security-policy": "; ".join(held)}


def _listed(sources: tuple[str, ...]) -> str:
    return " ".join(source for source in sources if source) or "'none'"
