"""Renaming: what is certain is changed everywhere, and what is not stops it."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.agents.patterns.agent import execute
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.registry import pattern_named
from milepost.core.errors import PatternInputsInvalid
from tests.unit.agents.patterns.test_patterns import contents, plant

RENAME = pattern_named("rename_symbol")

PYTHON = {
    "src/shop/__init__.py": 'from .prices import total\n\n__all__ = ["total"]\n',
    "src/shop/prices.py": (
        '"""Prices: total is the sum."""\n'
        "from __future__ import annotations\n\n"
        "class Cart:\n"
        "    total = 0\n\n"
        "    def add(self, total):\n"
        "        self.total += total\n"
        "        return total\n\n"
        "    def whole(self):\n"
        "        return total(self)\n\n\n"
        'def total(cart: "Cart", tax=0) -> int:\n'
        "    return sum(cart) + tax\n\n\n"
        "def half(cart):\n"
        "    def inner():\n"
        "        total = 3\n"
        "        return [total for total in cart], total\n"
        "    return total(cart) // 2, inner, f'{total(cart)} {cart.total}'\n\n\n"
        "def reset():\n"
        "    global total\n"
        "    total = None\n"
    ),
    "src/shop/page.py": (
        "import shop\n"
        "import shop.prices as prices\n"
        "from shop import prices as again\n"
        "from shop.prices import total as sum_up, Cart\n\n"
        "SHOWN = sum_up([]), prices.total([], tax=1), shop.total([]), shop.prices.total([]), again.total([])\n"
        "OTHER = Cart().total\n"
        "def later():\n"
        "    from shop import total\n"
        "    return total\n"
    ),
    "tests/test_prices.py": (
        "from unittest import mock\n"
        "from shop.prices import *\n\n"
        "def test_total():\n"
        "    with mock.patch('shop.prices.total') as fake, mock.patch('other.total'):\n"
        "        assert total([1]) == {'total': fake}\n"
    ),
    "other.py": "def use(total):\n    return total\n",
    "pyproject.toml": '[project.scripts]\nshop = "shop.prices:total"\nother = "other:total"\n',
    "broken.py": "def broken(:\n",
}


def test_a_function_is_renamed_where_it_is_meant_and_nowhere_else(tmp_path: Path) -> None:
    plant(tmp_path, PYTHON)
    site = PendingChanges(tmp_path)

    execute(RENAME, {"old": "total", "new": "sum_of"}, site)

    assert sorted(site.written) == [
        "pyproject.toml",
        "src/shop/__init__.py",
        "src/shop/page.py",
        "src/shop/prices.py",
        "tests/test_prices.py",
    ]
    found = contents(tmp_path)
    assert found["src/shop/__init__.py"] == 'from .prices import sum_of\n\n__all__ = ["sum_of"]\n'
    assert found["src/shop/prices.py"] == (
        PYTHON["src/shop/prices.py"]
        .replace("def total(cart", "def sum_of(cart")
        .replace("return total(cart)", "return sum_of(cart)")
        .replace("return total(self)", "return sum_of(self)")
        .replace("{total(cart)}", "{sum_of(cart)}")
        .replace("global total\n    total =", "global sum_of\n    sum_of =")
    )
    assert found["src/shop/page.py"] == (
        "import shop\n"
        "import shop.prices as prices\n"
        "from shop import prices as again\n"
        "from shop.prices import sum_of as sum_up, Cart\n\n"
        "SHOWN = sum_up([]), prices.sum_of([], tax=1), shop.sum_of([]), shop.prices.sum_of([]), again.sum_of([])\n"
        "OTHER = Cart().total\n"
        "def later():\n"
        "    from shop import sum_of\n"
        "    return sum_of\n"
    )
    assert found["tests/test_prices.py"] == (
        "from unittest import mock\n"
        "from shop.prices import *\n\n"
        "def test_total():\n"
        "    with mock.patch('shop.prices.sum_of') as fake, mock.patch('other.total'):\n"
        "        assert sum_of([1]) == {'total': fake}\n"
    )
    assert '"shop.prices:sum_of"' in found["pyproject.toml"] and '"other:total"' in found["pyproject.toml"]
    assert any("left as it is" in remark for remark in site.remarks)

    again = PendingChanges(tmp_path)
    execute(RENAME, {"old": "total", "new": "sum_of"}, again)
    assert again.written == []


def test_a_class_is_renamed_in_annotations_and_lists_that_are_texts(tmp_path: Path) -> None:
    before = (
        '__all__ = []\n__all__.extend(["Old"])\n'
        'def f(x: "Old | None", y: "list[Old]") -> "other.Name": ...\n'
        'class Old:\n    a: "Old"\n'
    )
    plant(tmp_path, {"a.py": before})

    execute(RENAME, {"old": "Old", "new": "Newer"}, PendingChanges(tmp_path))

    assert contents(tmp_path)["a.py"] == before.replace("Old", "Newer")


def test_line_ends_and_letters_of_other_languages_stay(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("größe = 'ä'; old = größe; x = old  # ö\r\n".encode())

    execute(RENAME, {"old": "old", "new": "newer"}, PendingChanges(tmp_path))

    assert (tmp_path / "a.py").read_bytes() == "größe = 'ä'; newer = größe; x = newer  # ö\r\n".encode()


def test_programs_of_modules_whose_names_only_end_or_go_on_alike_keep_theirs(tmp_path: Path) -> None:
    others = "w = webapp:main\nv = vendor.app:main\nd = web-app:main\nl = app:main-line\nm = app:mainly\n"
    said = "SAID = 'webapp:main, vendor.app:main, the app: main'\n"
    plant(tmp_path, {"app.py": "def main(): pass\n", "said.py": said, "setup.cfg": f"a=app:main [x]\n{others}"})
    plant(tmp_path, {"Dockerfile": "CMD gunicorn app:main\n", "notes.md": "webapp:main\n"})
    site = PendingChanges(tmp_path)

    execute(RENAME, {"old": "main", "new": "start"}, site)

    assert site.remarks[1:] == ["left as it is where 'main' may be named as a program: Dockerfile"]
    assert contents(tmp_path) == {
        "app.py": "def start(): pass\n",
        "Dockerfile": "CMD gunicorn app:main\n",
        "notes.md": "webapp:main\n",
        "said.py": said,
        "setup.cfg": f"a=app:start [x]\n{others}",
    }


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a.py": "x = 1\n"}, "no file defines 'old'"),
        ({"a.py": "old = 1\n", "b.py": "old = 2\n"}, "several files, name one of them: a.py, b.py"),
        ({"a.py": "old = 1\n", "a.pyi": "old: int\n"}, "cannot be renamed: a.pyi"),
        ({"a.py": "old = 1\nnewer = 2\n"}, "a.py:2 has a 'newer' already"),
        ({"a.py": "old = 1\n", "b.py": "from a import old\ndef f(newer): return old\n"}, "b.py:2 has a 'newer'"),
        ({"a.py": "old = 1\n", "b.py": "def old(:\n"}, "b.py cannot be read as Python"),
        ({"a.py": "old = 1\nclass A:\n    old = old\n"}, "a.py:3 may mean either 'old'"),
        ({"a.py": "old = 1\nfrom x import old\n"}, "a.py:2 gives 'old' another meaning"),
        ({"a.py": "old = 1\ntry: f()\nexcept E as old: pass\n"}, "a.py:3 gives 'old' another meaning"),
        ({"a.py": "old = 1\n", "b.py": "import a\ndef f(a): return a.old\n"}, "b.py:2: 'a' is not always the module"),
        (
            {"a.py": "old = 1\n", "setup.py": "setup(scripts=['x = a : old'])\n"},
            "setup.py:1 names it in a text as 'a : old'",
        ),
        ({"a.py": "old = 1\n", "b.py": "x = 1\nrun(f'{x} a:old')\n"}, "b.py:2 names it in a text as 'a:old'"),
        ({"a.js": "export const old = 1;\nfunction f(old) { return old; }\n"}, "a.js:2 gives 'old' another meaning"),
        ({"a.js": "export const old = 1;\nfor (const old of x) {}\n"}, "a.js:2 gives 'old' another meaning"),
        ({"a.js": "const old = 1, x = 2;\nexport { x as old };\n"}, "a.js:2 gives 'old' another meaning"),
        ({"a.js": "export const old = 1;\nlet newer;\n"}, "a.js:2 has a 'newer' already"),
        (
            {"a.js": "export const old = 1;", "b.js": "import {old} from './a.js';\nexport {old as x} from './c.js';"},
            "b.js:2 gives 'old' another meaning",
        ),
        ({"a.js": "export const old = 1;", "b.js": "const {old} = require('./a.js');"}, "b.js:1 loads a.js in a way"),
        ({"a.ts": "export const old = 1;", "b.ts": "import {old} from '@/a';"}, "b.ts:1 may import it by the path"),
        ({"a.js": "export const old = 1;", "b.js": "old = (;"}, "b.js cannot be read"),
    ],
)
def test_what_is_not_certain_stops_it_and_nothing_changes(files: dict[str, str], says: str, tmp_path: Path) -> None:
    plant(tmp_path, files)

    with pytest.raises(PatternInputsInvalid) as refusal:
        execute(RENAME, {"old": "old", "new": "newer"}, PendingChanges(tmp_path))

    assert says in refusal.value.message
    assert contents(tmp_path) == files


SCRIPTS = {
    "src/prices.ts": (
        "export interface Item { total: number }\n"
        "export function total(items: Item[]): number {\n"
        "  return items.reduce((sum, item) => sum + item.total, 0);\n"
        "}\n"
        "export const all = { total, half: (items: Item[]) => total(items) / 2 };\n"
        "type Total = typeof total;\n"
    ),
    "src/index.ts": "export { total } from './prices.js';\nexport * from './prices';\n",
    "src/page.tsx": (
        "import { total as sumUp } from '.';\n"
        "import * as prices from './prices';\n"
        'export const page = <b title="total">{sumUp([])}{prices.total([])}{all.total}</b>;\n'
    ),
    "tests/prices.test.mjs": (
        "import { total } from '../src/index.js';\n"
        "test('total', () => assert.equal(total([{ total: 1 }]), 1));\n"
        "export { total as whole };\n"
    ),
    "other.js": "const total = 3;\nconsole.log(total);\n",
}


def test_a_function_of_typescript_is_renamed_where_it_is_meant(tmp_path: Path) -> None:
    plant(tmp_path, SCRIPTS)
    inputs = {"old": "total", "new": "sumOf", "file": "src/prices.ts"}

    execute(RENAME, inputs, PendingChanges(tmp_path))

    assert contents(tmp_path) == {
        "src/prices.ts": (
            "export interface Item { total: number }\n"
            "export function sumOf(items: Item[]): number {\n"
            "  return items.reduce((sum, item) => sum + item.total, 0);\n"
            "}\n"
            "export const all = { total: sumOf, half: (items: Item[]) => sumOf(items) / 2 };\n"
            "type Total = typeof sumOf;\n"
        ),
        "src/index.ts": "export { sumOf } from './prices.js';\nexport * from './prices';\n",
        "src/page.tsx": (
            "import { sumOf as sumUp } from '.';\n"
            "import * as prices from './prices';\n"
            'export const page = <b title="total">{sumUp([])}{prices.sumOf([])}{all.total}</b>;\n'
        ),
        "tests/prices.test.mjs": (
            "import { sumOf } from '../src/index.js';\n"
            "test('total', () => assert.equal(sumOf([{ total: 1 }]), 1));\n"
            "export { sumOf as whole };\n"
        ),
        "other.js": SCRIPTS["other.js"],
    }
    again = PendingChanges(tmp_path)
    execute(RENAME, inputs, again)
    assert again.written == []


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"old": "a.b", "new": "c"}, "old must match"),
        ({"old": "a", "new": "class"}, "new 'class' is a keyword of the language"),
        ({"old": "a", "new": "a"}, "old and new are the same"),
        ({"old": "a", "new": "b", "file": "x.rs"}, "file 'x.rs' is not in a known language"),
    ],
)
def test_names_that_cannot_be_used_are_told(inputs: dict[str, str], says: str) -> None:
    assert any(says in problem for problem in RENAME.validate_inputs(inputs))
