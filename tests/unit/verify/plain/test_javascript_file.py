"""A JavaScript test file as a plain module."""

from __future__ import annotations

from pathlib import Path

import pytest

from milepost.verify.plain.javascript_file import plain_javascript

KIT = Path("/room/kit.cjs")


def plain(text: str, path: str = "test/a.test.js") -> tuple[str, bool, str]:
    found = plain_javascript(path, text.encode(), Path("/checkout/test"), KIT)
    return found.source.decode(), found.is_module, found.problem


def test_a_module_takes_the_kit_for_its_runner_and_names_of_the_product_one_by_one() -> None:
    source, is_module, _ = plain(
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { a, b as c } from '../src/a.js';\n"
    )

    assert is_module
    assert source == (
        "import test from \"file:///room/kit.cjs\";\nimport assert from 'node:assert';\n"
        'import * as part2 from "file:///checkout/src/a.js";; const { a, b: c } = part2;\n'
    )


def test_a_script_with_globals_of_its_runner_gets_those_that_it_calls() -> None:
    source, is_module, _ = plain("'use strict';\nconst a = require('../a');\ntest('x', () => expect(a()).toBe(1));\n")

    assert not is_module
    assert source.splitlines() == [
        "'use strict'; const { test, expect } = require(\"/room/kit.cjs\");",
        "'use strict';",
        'const a = require("/checkout/a");',
        "test('x', () => expect(a()).toBe(1));",
    ]


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        ("a.test.ts", "", "it is compiled before it is run"),
        ("a.test.js", "import a from './a.ts';", "it imports TypeScript"),
        ("a.test.js", "const a = (;", "it cannot be parsed"),
        ("a.test.js", "import.meta.resolve('a')", "it asks for more of itself than where it is"),
    ],
)
def test_a_file_that_cannot_be_run_plainly_says_why(path: str, text: str, problem: str) -> None:
    assert plain(text, path)[2] == problem


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("import.meta.url", "file:///checkout/test/a.test.js"),
        ("import.meta.dirname", "/checkout/test"),
        ("__dirname", "/checkout/test"),
        ("__filename", "/checkout/test/a.test.js"),
    ],
)
def test_a_file_that_asks_where_it_is_is_told_its_own_place(asked: str, told: str) -> None:
    assert f'read("{told}")' in plain(f"import {{ test }} from 'node:test';\nread({asked});\n", "test/a.test.js")[0]
