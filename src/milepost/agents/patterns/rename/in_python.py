"""A name at the top of a Python module, renamed there and wherever it is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from milepost.agents.patterns.edits import TextEdit, edited
from milepost.agents.patterns.rename.python_scopes import Scope, home_of, scopes_of
from milepost.sandbox.confined import PathRefused

_ATTRIBUTE_CALLS = ("getattr", "setattr", "hasattr", "delattr", "object")


@dataclass(frozen=True, kw_only=True)
class PythonFile:
    """A Python file that was read; paths are relative to the project's top."""

    path: str
    text: str
    tree: ast.Module
    packages: frozenset[str]

    @property
    def folder(self) -> PurePosixPath:
        return PurePosixPath(self.path).parent

    @cached_property
    def names(self) -> frozenset[str]:
        """The dotted names that the file can be imported by: from its package's top, and from the project's."""
        place = PurePosixPath(self.path).with_suffix("")
        parts = place.parts[:-1] if place.name == "__init__" else place.parts
        root = len(parts) - (place.name != "__init__")
        while root > 0 and "/".join(parts[:root]) in self.packages:
            root -= 1
        return frozenset(".".join(each) for each in (parts, parts[root:]) if each)

    def resolved(self, node: ast.ImportFrom) -> str:
        """What an import names, dotted from the project's top where it is relative."""
        if not node.level:
            return node.module or ""
        folders = self.folder.parts[: len(self.folder.parts) - (node.level - 1)]
        return ".".join((*folders, *((node.module,) if node.module else ())))


@dataclass
class Renaming:
    """One renaming: `exporters` are the files that have the name, by definition or by import."""

    old: str
    new: str
    sources: Mapping[str, PythonFile]
    home: str
    exporters: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def changed(self) -> dict[str, str]:
        """The new text of each file that changes; `PathRefused` with every place that is not certain."""
        self._find_exporters()
        changed: dict[str, str] = {}
        for source in self.sources.values():
            edits = sorted(set(self._edits(source)), key=lambda edit: (edit.line, edit.column))
            if edits and (taken := _first_use(source.tree, self.new)):
                self.problems.append(f"{source.path}:{taken} has a {self.new!r} already")
            if edits:
                changed[source.path] = edited(source.path, source.text, edits)
            self.problems += self._entry_points(source)
        if self.problems:
            raise PathRefused("; ".join(dict.fromkeys(self.problems)))
        return changed

    def entry_point(self, gap: str) -> str:
        """What matches the name as programs are named, `module:name`, once the exporters are known."""
        names = {name for path in self.exporters for name in self.sources[path].names}
        modules = "|".join(map(re.escape, sorted(names)))
        return rf"(?<![\w.-])((?:{modules}){gap}:{gap}){re.escape(self.old)}(?![\w-])"

    def _entry_points(self, source: PythonFile) -> Iterator[str]:
        """The texts that name it as programs are named: who reads them, and whether they mean it, is not known."""
        # Elsewhere than where programs are declared, a colon with a space is one of prose.
        named = re.compile(self.entry_point(r"\s*" if source.path.endswith("setup.py") else ""))
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and (found := named.search(str(node.value))):
                yield f"{source.path}:{node.lineno} names it in a text as {found[0]!r}"

    def _find_exporters(self) -> None:
        """The files that have the name, also through other files that import it."""
        self.exporters = {self.home}
        while True:
            more = {
                source.path
                for source in self.sources.values()
                if source.path not in self.exporters and any(self._ours_at_top(source))
            }
            if not more:
                return
            self.exporters |= more

    def _ours_at_top(self, source: PythonFile) -> Iterator[bool]:
        for node in source.tree.body:
            for part in ast.walk(node) if not isinstance(node, ast.FunctionDef | ast.ClassDef) else ():
                if isinstance(part, ast.ImportFrom) and self._is_exporter(source.resolved(part)):
                    yield from (True for alias in part.names if alias.name == self.old and not alias.asname)
                    yield from (True for alias in part.names if alias.name == "*")

    def _is_exporter(self, dotted: str) -> bool:
        return any(dotted in self.sources[path].names for path in self.exporters)

    def _edits(self, source: PythonFile) -> Iterator[TextEdit]:
        top = scopes_of(source.tree, self.old)
        imports = [node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom)]
        ours = [node for node in imports if self._is_exporter(source.resolved(node))]
        aliases = {id(alias) for node in ours for alias in node.names if alias.name == self.old}
        for node in ours:
            for alias in node.names:
                if alias.name == self.old:
                    yield self._edit(source, alias.lineno, alias.col_offset)
        scopes = [scope for scope in top.walk() if self._means_ours(source, scope, aliases, ours)]
        for scope in top.walk():
            yield from self._scope_edits(source, scope, top, scopes, aliases)
        yield from self._module_edits(source)
        yield from self._text_edits(source, top in scopes)

    def _means_ours(self, source: PythonFile, scope: Scope, aliases: set[int], ours: list[ast.ImportFrom]) -> bool:
        if scope.kind == "module" and source.path == self.home:
            return True
        if any(id(binding) in aliases and not getattr(binding, "asname", None) for binding in scope.bindings):
            return True
        starred = any(alias.name == "*" for node in ours for alias in node.names)
        return scope.kind == "module" and starred and not scope.bindings

    def _scope_edits(
        self, source: PythonFile, scope: Scope, top: Scope, ours: list[Scope], aliases: set[int]
    ) -> Iterator[TextEdit]:
        meant = home_of(scope, top)
        if meant is scope and scope.kind == "class" and any(isinstance(use, ast.Name) for use in scope.uses):
            # Before its own binding, a class sees the name from outside.
            self.problems.append(f"{source.path}:{scope.uses[0].lineno} may mean either {self.old!r}")
        if meant not in ours:
            return
        for statement in scope.declared:
            yield from self._in_statement(source, statement)
        for binding in scope.bindings:
            yield from self._binding_edits(source, binding, aliases)
        for use in scope.uses:
            if isinstance(use, ast.Name):
                yield self._edit(source, use.lineno, use.col_offset)
            else:
                yield from self._in_text(source, use, rf"(?<![\w.]){re.escape(self.old)}(?!\w)")

    def _binding_edits(self, source: PythonFile, binding: ast.AST, aliases: set[int]) -> Iterator[TextEdit]:
        match binding:
            case ast.Name():
                yield self._edit(source, binding.lineno, binding.col_offset)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                line = source.text.encode().split(b"\n")[binding.lineno - 1]
                found = re.compile(rb"(?:async\s+def|def|class)\s+").match(line, binding.col_offset)
                yield self._edit(source, binding.lineno, found.end() if found else -1)
            case ast.alias() if id(binding) in aliases:
                pass
            case _:
                place = f"{source.path}:{getattr(binding, 'lineno', 0)}"
                self.problems.append(f"{place} gives {self.old!r} another meaning")

    def _in_statement(self, source: PythonFile, statement: ast.Global) -> Iterator[TextEdit]:
        line = source.text.encode().split(b"\n")[statement.lineno - 1]
        for found in re.finditer(rb"(?<!\w)" + self.old.encode() + rb"(?!\w)", line[: statement.end_col_offset]):
            yield self._edit(source, statement.lineno, found.start())

    def _module_edits(self, source: PythonFile) -> Iterator[TextEdit]:
        """The places where the name is reached through its module: `module.name`, `getattr(module, "name")`."""
        modules = self._module_names(source)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and node.attr == self.old:
                if _dotted(node.value) in modules:
                    self._certain(source, _dotted(node.value).partition(".")[0], node.lineno)
                    end = (node.end_col_offset or 0) - len(self.old.encode())
                    yield self._edit(source, node.end_lineno or 0, end)
                else:
                    self.left.append(f"{source.path}:{node.lineno}")
            elif isinstance(node, ast.Call) and _dotted(node.func).rpartition(".")[2] in _ATTRIBUTE_CALLS:
                named = node.args[1] if len(node.args) > 1 else None
                if isinstance(named, ast.Constant) and named.value == self.old and _dotted(node.args[0]) in modules:
                    yield from self._in_text(source, named, re.escape(self.old))

    def _certain(self, source: PythonFile, module: str, line: int) -> None:
        """Make sure that the name of a module stands for nothing else in the file."""
        bound = {id(binding) for scope in scopes_of(source.tree, module).walk() for binding in scope.bindings}
        imported = {id(node) for node in ast.walk(source.tree) if isinstance(node, ast.alias)}
        if bound - imported:
            self.problems.append(f"{source.path}:{line}: {module!r} is not always the module there")

    def _module_names(self, source: PythonFile) -> set[str]:
        """What the file calls the modules that have the name."""
        found: set[str] = set()
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Import):
                found |= {alias.asname for alias in node.names if alias.asname and self._is_exporter(alias.name)}
                roots = {alias.name.partition(".")[0] for alias in node.names if not alias.asname}
                known = {name for path in self.exporters for name in self.sources[path].names}
                found |= {name for name in known if name.partition(".")[0] in roots}
            elif isinstance(node, ast.ImportFrom):
                base = source.resolved(node)
                dotted = {alias: f"{base}.{alias.name}" if base else alias.name for alias in node.names}
                found |= {alias.asname or alias.name for alias, name in dotted.items() if self._is_exporter(name)}
        return found

    def _text_edits(self, source: PythonFile, exports: bool) -> Iterator[TextEdit]:
        """Names in `__all__`, and texts that name the thing by its whole dotted name."""
        paths = [f"{name}.{self.old}" for path in self.exporters for name in self.sources[path].names]
        whole = "|".join(map(re.escape, paths))
        for node in ast.walk(source.tree):
            if exports and (listed := _listed_in_all(node)):
                for part in (part for each in listed for part in ast.walk(each)):
                    if isinstance(part, ast.Constant) and part.value == self.old:
                        yield from self._in_text(source, part, re.escape(self.old))
            elif isinstance(node, ast.Constant) and re.fullmatch(rf"(?:{whole})(?:\..*)?", str(node.value)):
                yield from self._in_text(source, node, rf"(?<=\.){re.escape(self.old)}(?=\.|['\"])")

    def _in_text(self, source: PythonFile, node: ast.Constant, pattern: str) -> Iterator[TextEdit]:
        if node.lineno != node.end_lineno:
            if re.search(pattern, str(node.value)):
                self.problems.append(f"{source.path}:{node.lineno} names it in a text of several lines")
            return
        line = source.text.encode().split(b"\n")[node.lineno - 1]
        for found in re.finditer(pattern, line[node.col_offset : node.end_col_offset].decode("latin-1")):
            yield self._edit(source, node.lineno, node.col_offset + found.start())

    def _edit(self, source: PythonFile, line: int, column: int) -> TextEdit:
        return TextEdit(line=line, column=column, old=self.old, new=self.new)


def read(path: str, text: str, packages: frozenset[str]) -> PythonFile:
    """A file as it is looked at; one that this Python cannot read is refused, for the name may be in it."""
    try:
        return PythonFile(path=path, text=text, tree=ast.parse(text), packages=packages)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PathRefused(f"{path} cannot be read as Python: {error}") from error


def defines(source: PythonFile, name: str) -> bool:
    """Whether a file binds the name at its top, other than by importing it."""
    return any(not isinstance(binding, ast.alias) for binding in scopes_of(source.tree, name).bindings)


def _first_use(tree: ast.Module, name: str) -> int:
    """The first line that has the name, in any meaning that the renamed one could collide with; 0 for none."""
    for node in ast.walk(tree):
        named = (
            (isinstance(node, ast.Name) and node.id == name)
            or (isinstance(node, ast.arg) and node.arg == name)
            or (isinstance(node, ast.alias) and (node.asname or node.name) == name)
            or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name)
        )
        if named:
            return int(getattr(node, "lineno", 1))
    return 0


def _listed_in_all(node: ast.AST) -> list[ast.expr]:
    """What a statement puts into `__all__`: `__all__ = …`, `__all__ += …`, `__all__.extend(…)`."""
    if isinstance(node, ast.Call):
        return node.args if _dotted(node.func) in ("__all__.append", "__all__.extend") else []
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) or node.value is None:
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [node.value] if any(_dotted(target) == "__all__" for target in targets) else []


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := _dotted(node.value)):
        return f"{base}.{node.attr}"
    return ""
