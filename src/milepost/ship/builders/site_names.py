"""Names that carry the digest of their content, for the files of a site, where that is safe. Pure.

A file is renamed only if every mention of its name is a reference that is rewritten. Texts are bytes as Latin-1.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_MODULES = (".js", ".mjs")
_MEDIA = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico", ".woff", ".woff2", ".ttf", ".mp4", ".webm")
_PAGES = (".html", ".htm")
_TEXTS = (*_PAGES, ".css", *_MODULES)
# Their names are known outside of the site.
_KNOWN = re.compile(r"(favicon|apple-touch-icon|sw|service-?worker|robots|manifest|browserconfig)\b.*", re.IGNORECASE)
_NAMED_BY_CONTENT = re.compile(r"[-.](?=[A-Za-z_]*[0-9])\w{8,}\.\w+$")
_PLAIN = re.compile(r"[\w.@-]+\.\w+", re.ASCII)

_ATTRIBUTE = re.compile(r"\b(?:href|src|poster|data)\s?=\s?[\"']([^\"'<>\s]+)[\"']", re.IGNORECASE)
_SRCSET = re.compile(r"\bsrcset\s?=\s?[\"']([^\"'<>]+)[\"']", re.IGNORECASE)
_IN_SRCSET = re.compile(r"[^\s,]+")
_CSS = re.compile(r"url\(\s?[\"']?([^\"')\s]+)[\"']?\s?\)|@import\s[\"']([^\"'\n]+)[\"']", re.IGNORECASE)
_IMPORT = re.compile(
    r"\b(?:from|import)\s?(?:\(\s?)?[\"']([^\"'\n\s]+)[\"']|\bnew URL\(\s?[\"']([^\"'\n\s]+)[\"'], ?import\.meta\.url"
)
_COMPUTED_IMPORT = re.compile(r"\bimport\s?\(\s?(?![\"'\s/])")
_LOADING = re.compile(r"<(?:script|link)\b[^<>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Reference:
    """The place of an address in a text, and the file of the site that it leads to."""

    start: int
    end: int
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteNames:
    """New names of files by their old ones, and new texts by old names; `kept` also stay where they were."""

    names: Mapping[str, str]
    texts: Mapping[str, str]
    kept: frozenset[str] = frozenset()


def hashed_names(digests: Mapping[str, str], texts: Mapping[str, str]) -> SiteNames:
    """What to rename and rewrite in a site with these files, by their digests, and these texts of it."""
    pages = {path: text for path, text in texts.items() if path.endswith(_PAGES)}
    if any(re.search(r"<base\s", text, re.IGNORECASE) for text in pages.values()):
        return SiteNames(names={}, texts={})
    frozen = {target for path, text in pages.items() for target in _with_integrity(path, text, digests)}
    found = {path: tuple(_references(path, text, digests)) for path, text in texts.items() if path not in frozen}
    mentioned = {name for path, text in texts.items() for name in _mentions(text, found.get(path, ()))}
    computed = any(_COMPUTED_IMPORT.search(text) for text in texts.values())
    wanted = {one.target for references in found.values() for one in references}
    renamed = {
        path: _with_digest(path, _digest(path, digests, found))
        for path in sorted(wanted - frozen)
        if _may_change(posixpath.basename(path), mentioned, computed)
    }
    rewritten = {path: _rewritten(texts[path], references, renamed) for path, references in found.items()}
    scripted = any(path.endswith(_MODULES) or "<script" in text.lower() for path, text in texts.items())
    # A script may put names together; what may be there twice is.
    kept = frozenset(path for path in renamed if scripted and not path.endswith(_MODULES))
    return SiteNames(names=renamed, texts=rewritten, kept=kept)


def is_text(path: str) -> bool:
    """Whether a file may refer to others in a way that is understood."""
    return path.endswith(_TEXTS)


def _references(path: str, text: str, files: Mapping[str, str]) -> Iterator[_Reference]:
    """The references of a text that lead to files of the site, in order and without overlap."""
    spans = sorted(set(_addresses(path, text)))
    last = 0
    for start, end in spans:
        if start < last:
            continue
        target = _target(path, text[start:end])
        if target in files:
            yield _Reference(start, end, target)
            last = end


def _addresses(path: str, text: str) -> Iterator[tuple[int, int]]:
    ways = [_IMPORT] if path.endswith(_MODULES) else [_CSS] if path.endswith(".css") else [_ATTRIBUTE, _CSS, _IMPORT]
    for way in ways:
        for found in way.finditer(text):
            if found.lastindex:
                yield found.span(found.lastindex)
    if path.endswith(_PAGES):
        for found in _SRCSET.finditer(text):
            for one in _IN_SRCSET.finditer(found[1]):
                yield found.start(1) + one.start(), found.start(1) + one.end()


def _target(path: str, address: str) -> str:
    """The file that an address in another file leads to; empty where it leads elsewhere."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme or parts.netloc or not parts.path:
        return ""
    if path.endswith(_MODULES) and not address.startswith(("./", "../", "/")):
        return ""
    place = parts.path if parts.path.startswith("/") else posixpath.join("/", posixpath.dirname(path), parts.path)
    return posixpath.normpath(place).lstrip("/")


def _with_integrity(path: str, text: str, files: Mapping[str, str]) -> Iterator[str]:
    for tag in _LOADING.finditer(text):
        if "integrity" in tag[0].lower():
            yield from (one.target for one in _references(path, tag[0], files))


def _mentions(text: str, references: tuple[_Reference, ...]) -> Iterator[str]:
    """Names of files in a text, but for those in references that are rewritten."""
    start = 0
    for end, after in [*((one.start, one.end) for one in references), (len(text), len(text))]:
        yield from _PLAIN.findall(text[start:end])
        start = after


def _may_change(name: str, mentioned: set[str], computed: bool) -> bool:
    if not name.endswith((".css", *_MODULES, *_MEDIA)) or not _PLAIN.fullmatch(name) or name in mentioned:
        return False
    if name.endswith(_MODULES) and computed:
        return False
    return not _KNOWN.fullmatch(name) and not _NAMED_BY_CONTENT.search(name)


def _digest(path: str, digests: Mapping[str, str], found: Mapping[str, tuple[_Reference, ...]]) -> str:
    """Of a file and of all that it leads to: whatever changes there changes its text, also where they form a ring."""
    seen, todo = {path}, [path]
    while todo:
        for one in found.get(todo.pop(), ()):
            if one.target not in seen and not one.target.endswith(_PAGES):
                seen.add(one.target)
                todo.append(one.target)
    whole = "\n".join(f"{name} {digests[name]}" for name in sorted(seen))
    return hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest()


def _with_digest(path: str, digest: str) -> str:
    stem, suffix = posixpath.splitext(path)
    return f"{stem}-{digest[:10]}{suffix}"


def _rewritten(text: str, references: tuple[_Reference, ...], renamed: Mapping[str, str]) -> str:
    parts, start = [], 0
    for one in references:
        if one.target in renamed:
            old, new = posixpath.basename(one.target), posixpath.basename(renamed[one.target])
            address = text[one.start : one.end]
            path = urlsplit(address).path
            parts += [text[start : one.start], path.removesuffix(old) + new + address[len(path) :]]
            start = one.end
    return "".join([*parts, text[start:]])
