"""A change split into what is judged and what judges: where each file of it stands when the verdict is taken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from milepost.core.change import Change, ChangedFile
from milepost.sources.paths import folders_above
from milepost.verify.checks.does_anything import is_named
from milepost.verify.judging.examples import with_examples_of
from milepost.verify.judging.layout import BaseFacts, Layout, is_checking, is_installed, language_of
from milepost.verify.judging.links import may_lead_out
from milepost.verify.judging.manifests import is_manifest, merged_manifest
from milepost.verify.judging.paths import (
    is_build_setting,
    is_list_of_needs,
    is_prose,
    is_test_folder,
    is_test_setting,
    is_tool_setting_by_form,
    name_of,
    suffix,
)
from milepost.verify.judging.script_language import language_of_file

Standing = Literal["judged", "judges", "unclear"]

# What holds code that nobody can read, or that other code loads.
_OPAQUE = frozenset(
    {".zip", ".whl", ".egg", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".jar", ".war", ".class", ".pyc", ".pyo"}
    | {".pyd", ".so", ".dll", ".dylib", ".node", ".wasm", ".a", ".o", ".obj", ".lib", ".exe", ".bin", ".pkl"}
    | {".pickle", ".marshal", ".joblib", ".npy", ".npz", ".db", ".sqlite", ".sqlite3"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Where the files of a change stand: each in one of `judged`, `restored`, `left_out`, `uncertain`, `merged`.

    On the bench tree `judged` files are as the candidate has them, `restored` ones as the base has them, `left_out`
    ones are not there. `uncertain` ones are as the base has them too, which may be not at all: they may be the
    product's, so where the work fails without them a person is asked. `merged` are manifests with the base's way of
    judging and the candidate's product. `tests` are the files, of any standing, in which tests are; `named` are those
    that judge and are judged all the same, since the task names them: a person should see what became of them.
    `examples` are files of the product whose docstrings have examples: where the change touches these, the file is
    among `merged` and `tests`, as the candidate's code with the base's examples.
    """

    judged: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    uncertain: tuple[str, ...] = ()
    merged: Mapping[str, bytes] = field(default_factory=dict)
    tests: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def changed(self) -> frozenset[str]:
        """The files that may hold tests of the attempt's own: test files, and product files with examples in them.

        Not those of which the bench tree has the base's examples.
        """
        return frozenset((*self.tests, *self.judged)) - frozenset(self.examples)

    @property
    def product(self) -> tuple[str, ...]:
        """The files of the product that changed."""
        return tuple(sorted({path for path in self.judged if path not in self.tests}.union(self.examples)))

    @property
    def from_base(self) -> tuple[str, ...]:
        """The paths that are on the bench tree otherwise than in the candidate, those left out not among them."""
        return tuple(sorted((*self.restored, *self.merged)))

    @property
    def is_candidate(self) -> bool:
        """Whether the bench tree is the candidate's own."""
        return not (self.restored or self.left_out or self.uncertain or self.merged)


def split(change: Change, files: tuple[str, ...], base: BaseFacts) -> Split:
    """Split a change; `files` are the entries of the task's `Files:`."""
    layout = Layout(base=base)
    gone = frozenset(file.path for file in change.files if file.is_gone)
    exact = frozenset(entry.strip().removeprefix("./") for entry in files)
    places: dict[str, set[str]] = {name: set() for name in ("judged", "restored", "left_out", "uncertain")}
    merged: dict[str, bytes] = {}
    for file in change.files:
        place = _place(file, exact, files, layout)
        if place == "judged" and file.path not in exact and file.is_new and layout.twin(file.path) not in ("", *gone):
            place = "uncertain"
        if isinstance(place, bytes):
            merged[file.path] = place
        else:
            places[place].add(file.path)
    _give_way(places, base.files)
    examples = tuple(file for file in change.files if file.path in base.examples & places["judged"])
    rewritten = {file.path: made for file in examples if (made := _with_old_examples(file)) is not None}
    places["judged"] -= rewritten.keys()
    merged |= rewritten
    return Split(
        judged=tuple(sorted(places["judged"])),
        restored=tuple(sorted(places["restored"])),
        left_out=tuple(sorted(places["left_out"])),
        uncertain=tuple(sorted(places["uncertain"])),
        merged=merged,
        tests=tuple(sorted(path for path in change.paths if layout.holds_tests(path) or path in rewritten)),
        named=tuple(
            file.path
            for file in change.files
            if file.path in exact and file.path in places["judged"] and _judges_as_it_is(file, layout)
        ),
        examples=tuple(file.path for file in examples),
    )


def judging(paths: Iterable[str], base: BaseFacts) -> tuple[str, ...]:
    """Those of some paths, as a task names them, that judge."""
    layout = Layout(base=base)
    return tuple(
        path for path in paths if _judges(path, language_of(path), path not in base.files, (), layout) == "judges"
    )


def _place(
    file: ChangedFile, exact: frozenset[str], files: tuple[str, ...], layout: Layout
) -> Literal["judged", "restored", "left_out", "uncertain"] | bytes:
    path, there = file.path, _is_there(file, layout)
    if may_lead_out(file):
        return "restored" if there else "left_out"
    if path in exact:
        return "judged"
    standing = _judges(path, language_of_file(file), not there, files, layout)
    if standing == "judges" and is_manifest(path) and not layout.is_test(path) and not is_installed(path):
        return _manifest(file, there)
    if standing == "judged" and (_is_odd(file) or _is_another_module(file)):
        standing = "unclear"
    if standing == "judges" and not there:
        return "uncertain" if layout.is_bare and not is_installed(path) else "left_out"
    if standing == "judges":
        return "restored"
    return "judged" if standing == "judged" else "uncertain"


def _judges(path: str, language: str, new: bool, files: tuple[str, ...], layout: Layout) -> Standing:
    """Where a path stands by its name, its language and what was seen at the base, which does not have a `new` one."""
    base = layout.base
    if layout.is_module_by_a_loaded_name(path) and not any(map(is_test_folder, path.split("/")[:-1])):
        return "judged" if name_of(path) == "setup.py" else "unclear"
    if layout.is_test(path) or is_installed(path):
        return "judges"
    if is_build_setting(path):
        return "unclear"
    if is_test_setting(path) or (is_tool_setting_by_form(path) and layout.is_beside_a_manifest(path)):
        return "judges"
    source = layout.is_source(path, language) or (bool(language) and is_named(path, files))
    if path in base.programs and not new:
        return "unclear" if source and not is_checking(path) else "judges"
    if is_list_of_needs(path):
        return "judged"
    if new:
        return _new(path, source, files, layout)
    if path in base.opened and not source:
        of_product = "/" in path and not layout.is_aside(path)
        return "unclear" if of_product or is_prose(path) or is_named(path, files) else "judges"
    if not source and not is_prose(path) and layout.is_beside_tests(path):
        return "unclear"
    return "judged"


def _new(path: str, source: bool, files: tuple[str, ...], layout: Layout) -> Standing:
    """Where an added file stands that is neither a test nor a setting."""
    if is_prose(path):
        return "judged"
    if layout.is_beside_a_judge(path):
        return "judges"
    if path in layout.base.programs:
        return "judged"
    if name_of(path) == "__init__.py" and (layout.is_beside_tests(path) or path == "__init__.py"):
        return "unclear"
    return "judged" if (source or is_named(path, files)) and suffix(path) not in _OPAQUE else "unclear"


def _is_there(file: ChangedFile, layout: Layout) -> bool:
    """Whether the base has a path; of a submodule, whose content is not git's, that is not known, and it may have."""
    return file.path in layout.base.files or file.before is not None or (file.after is None and not file.unread)


def _is_odd(file: ChangedFile) -> bool:
    """Whether a file is another kind of thing than its name says: a link, a submodule, bytes that are no text."""
    if file.is_link:
        return not is_prose(file.path)
    if file.before is None and file.after is None:
        return True
    return file.before is None and b"\0" in (file.after or b"") and not is_prose(file.path)


def _is_another_module(file: ChangedFile) -> bool:
    """Whether go.mod has another code stand in for a module: that may be what the tests compare with."""
    replaced = [re.findall(r"^.*=>.*$", text, re.MULTILINE) for text in (file.text_before, file.text_after)]
    return name_of(file.path) in ("go.mod", "go.work") and replaced[0] != replaced[1]


def _manifest(file: ChangedFile, there: bool) -> Literal["judged", "restored", "left_out"] | bytes:
    """A manifest as it is on the bench tree: the candidate's or the base's own, where one of them is what is wanted."""
    if file.is_link or file.unread or file.after is None or (there and file.before is None):
        return "restored" if there else "left_out"
    made = merged_manifest(file.path, file.before, file.after)
    if made is None or (made == file.before and made != file.after):
        return "restored" if there else "left_out"
    return "judged" if made == file.after else made


def _judges_as_it_is(file: ChangedFile, layout: Layout) -> bool:
    """Whether a file that a task names judges, in what the change did to it; a manifest's dependencies do not."""
    if _judges(file.path, language_of_file(file), not _is_there(file, layout), (), layout) != "judges":
        return False
    return (
        not is_manifest(file.path) or layout.is_test(file.path) or _manifest(file, file.before is not None) != "judged"
    )


def _with_old_examples(file: ChangedFile) -> bytes | None:
    """A product file with the base's examples; None where these are what it has."""
    if file.before is None or file.after is None or file.is_link:
        return None
    made = with_examples_of(file.before, file.after)
    return made if made != file.after else None


def _give_way(places: dict[str, set[str]], there: frozenset[str]) -> None:
    """Leave out what cannot be there together with what the base has: a file where a folder was, and the reverse."""
    kept = {path for path in places["restored"] | places["uncertain"] if path in there}
    folders = {folder for path in kept for folder in folders_above(path)}
    for name in ("judged", "uncertain"):
        clashing = {
            path
            for path in places[name] - kept
            if path in folders or any(folder in kept for folder in folders_above(path))
        }
        places[name] -= clashing
        places["left_out"] |= clashing
