"""A judging program in Python that the work cannot answer for.

Its `==` and `!=` compare by what values are, not by what the work says they are; and it tells how it came to its end.
"""

from __future__ import annotations

import ast
import json
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.verify.suites import report_file

OWN_END = Path(__file__).parent / "guest" / "own_end.py"
PARTS = Path(__file__).parent.parent / "plain" / "guest" / "parts"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeExit:
    """How a judging program ended: `code` is None where it did not by itself; `path` is the file that ended it."""

    code: int | None
    path: str = ""
    line: int = 0


def endings_in(folder: Path, package: str) -> tuple[JudgeExit, ...]:
    """How the judging programs ended that were started with a package of this name in a folder."""
    found: dict[int, JudgeExit] = {}
    key = _key(package)
    for line in (report_file.read(folder / package / "ends") or "").splitlines():
        with suppress(ValueError, TypeError):
            said, process, what, code, path, number = json.loads(line)
            if said == key:
                ended = what == "ended"
                found[int(process)] = JudgeExit(code=int(code) if ended else None, path=str(path), line=int(number))
    return tuple(found.values())


def _key(package: str) -> str:
    """What only the program that was laid can say; the name of its package is drawn anew each time."""
    return package[::-1]


def lay_comparison(folder: Path) -> str:
    """Put the comparison into a folder as a package, and return its name, which nothing else can have."""
    name = f"exact_{secrets.token_hex(6)}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    for part in ("compare.py", "endings.py"):
        shutil.copy(PARTS / part, folder / name)
    (folder / name / OWN_END.name).write_text(OWN_END.read_text(encoding="utf-8").replace("{key}", _key(name)))
    return name


def with_exact_comparisons(source: bytes, package: str) -> bytes | None:
    """The program, which tells its end, with `same` of a package for its comparisons; None if it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    _Exact(f"_{package}").visit(tree)
    start = next((at for at, node in enumerate(tree.body) if not _stands_first(node)), len(tree.body))
    around = ast.parse(_AROUND.format(package=package)).body
    whole = around[-1]
    assert isinstance(whole, ast.Try)
    whole.body = tree.body[start:] or [ast.Pass()]
    tree.body[start:] = around
    return ast.unparse(ast.fix_missing_locations(tree)).encode("utf-8", "surrogatepass")


_AROUND = """
from {package}.compare import same as _{package}
from {package}.own_end import began as _{package}_end
_{package}_end = _{package}_end() if __name__ == "__main__" else lambda problem=None: None
try:
    pass
except SystemExit as _{package}_problem:
    _{package}_end(_{package}_problem)
    raise
else:
    _{package}_end()
"""


def _stands_first(node: ast.stmt) -> bool:
    """Whether nothing may stand before this: the program's docstring, and what it takes from the future."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


class _Exact(ast.NodeTransformer):
    def __init__(self, same: str) -> None:
        self._same = same

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return node
        asked = ast.Call(ast.Name(self._same, ast.Load()), [node.left, node.comparators[0]], [])
        return ast.UnaryOp(ast.Not(), asked) if isinstance(node.ops[0], ast.NotEq) else asked
