"""Test files whose values can be replaced, and which say what they ask of the product."""

from __future__ import annotations

import textwrap
from pathlib import Path

from milepost.verify.plain.observing_javascript import observing_javascript
from milepost.verify.plain.observing_python import observing_python


def test_values_are_given_calls_are_seen_and_no_claim_fails() -> None:
    found = observing_python(
        textwrap.dedent("""
            from hours import seconds

            CASES = [("a", 1), ("b", 2)]

            def test_one():
                assert seconds(2, unit="h") == 7200
        """).encode()
    )

    assert found.names == {"test_one": "step_1"}
    assert "CASES = _kit.given([('a', 1), ('b', 2)])" in found.source
    assert "_kit.seen(seconds)(_kit.given(2), unit=_kit.given('h'))" in found.source
    assert "7200" not in found.source
    assert "assert" not in found.source


def test_asynchronous_tests_are_plain_where_a_loop_runs_them() -> None:
    found = observing_python(
        textwrap.dedent("""
            import unittest
            import pytest
            from hours import seconds

            async def test_by_a_plug_in():
                await seconds(1)

            @pytest.mark.asyncio
            async def test_marked():
                await seconds(1)

            class TestHours(unittest.IsolatedAsyncioTestCase):
                async def test_inside(self):
                    await seconds(1)

            class TestOther(unittest.TestCase):
                async def test_never_awaited(self):
                    await seconds(1)
        """).encode()
    )

    assert set(found.names) == {"test_marked", "TestHours::test_inside"}


def test_titles_names_and_modules_of_a_node_test_stay() -> None:
    source = b"""
import test from 'node:test';
import assert from 'node:assert/strict';
import { total } from '../cart.js';

test('two', () => {
  const items = [{ name: 'tea', tags: ['a', 'b'] }];
  assert.equal(total(items, 2).length, items['0']);
});
"""
    found = observing_javascript("test/cart.test.js", source, Path("/place/test"), Path("/room"))
    text = found.source.decode()

    assert found.is_module
    assert "test('two', () =>" in text
    assert "{ [_kit.key(\"name\")]: _kit.given('tea'), [_kit.key(\"tags\")]: _kit.given(['a', 'b']) }" in text
    assert "_kit.seen(assert, \"equal\")(_kit.seen(total)(items, _kit.given(2)).length, items['0'])" in text
    assert '"file:///room/claims.cjs"' in text
    assert "_kit.own(total);" in text
