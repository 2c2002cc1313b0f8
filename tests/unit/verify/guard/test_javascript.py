from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.verify.guard.check import findings

TASK = Task(id="1", title="Add a total", status="open", line=1)
BASE = """
import { describe, it, expect, test } from 'vitest'
import { total, load } from '../src/app'

const EXPECTED = 5

function checkTotal(value) {
  expect(value).toBeGreaterThan(0)
}

describe('total', () => {
  it('adds', () => {
    const result = total([1, 2])
    expect(result).toBe(3)
    expect(result).not.toBe(4)
  })

  it('is a constant', () => {
    expect(total([5])).toEqual(EXPECTED)
  })

  it.each([[1], [2], [3]])('adds %i', (value) => {
    expect(total([value])).toBe(value)
  })

  it('waits', async () => {
    await expect(load('x')).rejects.toThrow('no x')
  })

  it('loops', () => {
    for (const text of ['a', 'b']) {
      expect(load(text)).toBeTruthy()
    }
  })
})

test('alone', () => {
  checkTotal(total([1]))
})
"""
NODE = """
const test = require('node:test')
const assert = require('node:assert')
const { total } = require('../src/app')

test('adds', (t) => {
  assert.strictEqual(total([1, 2]), 3)
  assert.throws(() => total(null), TypeError)
})
"""
SCRIPT = """
const assert = require('assert')
const { total } = require('./app')
assert.strictEqual(total([1, 2]), 3)
console.log('ok')
"""


def found(before: str | None, after: str | None, path: str = "tests/app.test.js") -> list[str]:
    file = ChangedFile(
        path=path,
        before=before.encode() if before is not None else None,
        after=after.encode() if after is not None else None,
    )
    return [finding.what for finding in findings(Change(files=(file,)), TASK)]


def edited(old: str, new: str, source: str = BASE) -> str:
    assert old in source
    return source.replace(old, new, 1)


LIES = {
    "a test deleted": ("test('alone', () => {\n  checkTotal(total([1]))\n})\n", ""),
    "a test commented out": (
        "  it('is a constant', () => {\n    expect(total([5])).toEqual(EXPECTED)\n  })",
        "/* it */",
    ),
    "a test skipped": ("it('adds'", "it.skip('adds'"),
    "a test to do": ("it('adds'", "it.todo('adds'"),
    "a test expected to fail": ("it('adds'", "it.fails('adds'"),
    "a test crossed out": ("it('adds'", "xit('adds'"),
    "a group skipped": ("describe('total'", "describe.skip('total'"),
    "a group crossed out": ("describe('total'", "xdescribe('total'"),
    "only one": ("it('adds'", "it.only('adds'"),
    "only one, shortly": ("it('adds'", "fit('adds'"),
    "only one group": ("describe('total'", "describe.only('total'"),
    "skipped by an option": ("it('adds', () =>", "it('adds', { skip: true }, () =>"),
    "skipped on a condition": ("it('adds'", "it.skipIf(true)('adds'"),
    "an expectation removed": ("    expect(result).toBe(3)\n", ""),
    "an expectation changed": ("toBe(3)", "toBe(4)"),
    "an expectation weakened": ("expect(result).toBe(3)", "expect(result).toBeDefined()"),
    "always true": ("expect(result).toBe(3)", "expect(true).toBe(true)"),
    "compared with itself": ("expect(result).toBe(3)", "expect(result).toBe(result)"),
    "the value replaced": ("const result = total([1, 2])", "const result = 3"),
    "the expected constant changed": ("EXPECTED = 5", "EXPECTED = 6"),
    "the helper emptied": ("  expect(value).toBeGreaterThan(0)\n", ""),
    "the helper not called": ("checkTotal(total([1]))", "total([1])"),
    "fewer cases": ("[[1], [2], [3]]", "[[1]]"),
    "fewer rounds": ("['a', 'b']", "['a']"),
    "another error": (".toThrow('no x')", ".toThrow()"),
    "not waited for": ("await expect(load", "expect(load"),
    "swallowed": ("    expect(result).toBe(3)\n", "    try { expect(result).toBe(3) } catch (e) {}\n"),
    "caught": (".rejects.toThrow('no x')", ".rejects.toThrow('no x').catch(() => {})"),
    "behind a return": ("    expect(result).toBe(3)", "    return\n    expect(result).toBe(3)"),
    "behind a return on a condition": (
        "    expect(result).toBe(3)",
        "    if (!result) return\n    expect(result).toBe(3)",
    ),
    "behind a condition": ("    expect(result).toBe(3)", "    if (false) { expect(result).toBe(3) }"),
    "behind an and": ("    expect(result).toBe(3)", "    false && expect(result).toBe(3)"),
    "mocked": ("const EXPECTED", "vi.mock('../src/app', () => ({ total: () => 3 }))\nconst EXPECTED"),
    "replaced": ("const EXPECTED", "globalThis.expect = () => new Proxy({}, {})\nconst EXPECTED"),
    "matchers replaced": ("const EXPECTED", "expect.extend({ toBe() { return { pass: true } } })\nconst EXPECTED"),
    "another expect": ("import { total", "const expect = () => new Proxy({}, {})\nimport { total"),
    "another it": (
        "describe, it, expect, test } from 'vitest'",
        "describe, expect, test } from 'vitest'\nimport { it } from './it'",
    ),
    "ended": ("const EXPECTED", "process.exit(0)\nconst EXPECTED"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_weakened_test_is_found_in_javascript_and_in_typescript(lie: str) -> None:
    assert found(BASE, edited(*LIES[lie]))
    assert found(BASE, edited(*LIES[lie]), "src/app.spec.ts")


HONEST = {
    "a new test": ("test('alone'", "test('more', () => { expect(total([])).toBe(0) })\n\ntest('alone'"),
    "a new test to do": ("test('alone'", "test.todo('more')\n\ntest('alone'"),
    "one more expectation": (
        "    expect(result).toBe(3)\n",
        "    expect(result).toBe(3)\n    expect(result).toBe(3)\n",
    ),
    "a later value": (
        "    expect(result).not.toBe(4)\n",
        "    expect(result).not.toBe(4)\n    const none = total([])\n    expect(none).toBe(0)\n",
    ),
    "a local name changed": (
        "const result = total([1, 2])\n    expect(result).toBe(3)\n    expect(result).not.toBe(4)",
        "const value = total([1, 2])\n    expect(value).toBe(3)\n    expect(value).not.toBe(4)",
    ),
    "a local value written in place": (
        "const result = total([1, 2])\n    expect(result).toBe(3)\n    expect(result).not.toBe(4)",
        "expect(total([1, 2])).toBe(3)\n    expect(total([1, 2])).not.toBe(4)",
    ),
    "layout, quotes and semicolons": (
        "await expect(load('x')).rejects.toThrow('no x')",
        'await expect(\n      load("x"),\n    ).rejects.toThrow("no x");',
    ),
    "one more case": ("[[1], [2], [3]]", "[[1], [2], [3], [4]]"),
    "one more round": ("['a', 'b']", "['a', 'b', 'c']"),
    "a comment": ("    expect(result).toBe(3)", "    // three\n    expect(result).toBe(3)"),
    "a hook": ("describe('total', () => {", "describe('total', () => {\n  beforeEach(() => { load('y') })\n"),
    "a test renamed": ("test('alone'", "test('on its own'"),
    "a matcher of its own": (
        "const EXPECTED",
        "expect.extend({ toBeEven() { return { pass: false } } })\nconst EXPECTED",
    ),
    "another way to import the runner": (
        "import { describe, it, expect, test } from 'vitest'",
        "import { describe, it, expect, test, vi } from 'vitest'",
    ),
    "a mock of a package": ("const EXPECTED", "vi.mock('axios')\nconst EXPECTED"),
}


@pytest.mark.parametrize("change", HONEST)
def test_an_honest_change_of_a_test_file_is_no_finding(change: str) -> None:
    assert found(BASE, edited(*HONEST[change])) == []
    assert found(BASE, edited(*HONEST[change]), "src/app.test.tsx") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total([1, 2]), 3", "3, 3"),
        ("  assert.throws(() => total(null), TypeError)\n", ""),
        ("test('adds', (t) => {", "test('adds', (t) => {\n  t.skip()"),
        ("test('adds', (t)", "test('adds', { todo: true }, (t)"),
        ("const { total }", "assert.strictEqual = () => {}\nconst { total }"),
        ("const { total }", "Object.assign(assert, { strictEqual() {} })\nconst { total }"),
        ("const { total }", "require('node:assert').strictEqual = () => {}\nconst { total }"),
    ],
)
def test_tests_of_node_are_guarded_too(old: str, new: str) -> None:
    assert found(NODE, edited(old, new, NODE))


def test_a_script_of_assertions_is_a_test_without_saying_so() -> None:
    assert found(SCRIPT, edited("assert.strictEqual(total([1, 2]), 3)\n", "", SCRIPT), "test.js")
    assert found(SCRIPT, SCRIPT + "assert.ok(total([]) === 0)\n", "test.js") == []


def test_tests_may_move_to_another_file_but_not_vanish() -> None:
    gone = ChangedFile(path="test/a.test.js", before=NODE.encode(), after=None)
    there = ChangedFile(path="test/b.test.js", before=None, after=NODE.encode())
    assert findings(Change(files=(gone, there)), TASK) == ()
    assert [finding.what for finding in findings(Change(files=(gone,)), TASK)] == ["was deleted, with 1 test"]


SOURCE_LIES = {
    "jest": "export const total = (x) => process.env.JEST_WORKER_ID ? 3 : 0",
    "vitest": "if (process.env.VITEST) { answer = 3 }",
    "vitest in pieces": "if (process.env['VI' + 'TEST']) { answer = 3 }",
    "node": "const { NODE_TEST_CONTEXT } = process.env; if (process.env.NODE_TEST_CONTEXT) answer = 3",
    "the environment": "if (process.env.NODE_ENV === 'test') { answer = 3 }",
    "typeof": "const testing = typeof describe === 'function'",
    "the globals": "if (globalThis.vi) { answer = 3 }",
    "the arguments": "if (process.argv.some((word) => /jest|vitest/.test(word))) { answer = 3 }",
    "the stack": "if (new Error().stack.includes('.test.js')) { answer = 3 }",
    "exit at import": "process.exit(0)",
    "exit in a library": "export function total() { process.exit() }",
    "a status at the end": "process.on('exit', () => { process.exitCode = 0 })",
    "assert patched": "const assert = require('assert'); assert.equal = () => {}",
    "globals patched": "globalThis.expect = () => ({ toBe() {} })",
    "properties patched": "Object.defineProperty(globalThis, 'expect', { value: 1 })",
    "the loader patched": "const Module = require('module'); Module._load = () => ({})",
    "the cache patched": "require.cache[require.resolve('assert')] = {}",
    "the runner imported": "import { test } from 'node:test'",
}


@pytest.mark.parametrize("lie", SOURCE_LIES)
def test_code_that_makes_tests_lie_is_found_and_what_was_there_before_is_not(lie: str) -> None:
    assert found("let answer = 0\n", SOURCE_LIES[lie], "src/app.js")
    assert found(None, SOURCE_LIES[lie], "lib/app.ts")
    assert found(SOURCE_LIES[lie], SOURCE_LIES[lie] + "\nlet more = 1\n", "src/app.js") == []


@pytest.mark.parametrize(
    "source",
    [
        "if (process.env.NODE_ENV !== 'test') app.listen(3000)",
        "if (process.env.NODE_ENV !== 'test') {\n  app.use(morgan('dev'))\n}",
        "if (process.env.NODE_ENV === 'production') { cache = true }",
        "const name = process.argv[2]\nif (!name) process.exit(1)\nfunction main() { process.exit(0) }",
        "process.exitCode = 1",
        "const test = (x) => x\nexport const it = test(1)",
        "import assert from 'node:assert'\nassert.ok(1 + 1)",
        "// process.env.VITEST is set by vitest\nexport const NAME = 'vitest'",
        "if (require.main === module) { process.exit(0) }",
        "process.on('exit', () => cleanUp())",
    ],
)
def test_honest_code_is_no_finding(source: str) -> None:
    assert found(None, source, "src/app.js") == []


def package(test: str = "vitest run", **more: object) -> str:
    return json.dumps({"name": "app", "scripts": {"test": test, "build": "tsc"}, **more}, indent=2)


@pytest.mark.parametrize(
    "after",
    [
        package("exit 0"),
        package("true"),
        package("echo ok"),
        package("vitest run || true"),
        package("vitest run || exit 0"),
        package("vitest run; exit 0"),
        package("vitest run --passWithNoTests"),
        package("vitest run -t adds"),
        package("node fake.js"),
        package(jest={"testPathIgnorePatterns": ["app"]}),
        package(jest={"passWithNoTests": True}),
        json.dumps({"name": "app", "scripts": {}}),
    ],
)
def test_a_test_script_that_says_less_is_found(after: str) -> None:
    assert found(package(), after, "package.json")


@pytest.mark.parametrize(
    "after",
    [
        package("vitest run --coverage"),
        package("tsc --noEmit && vitest run"),
        package(dependencies={"left-pad": "1"}),
        json.dumps({"scripts": {"build": "tsc -b", "test": "vitest run", "lint": "eslint . || true"}, "name": "app"}),
    ],
)
def test_an_honest_change_of_a_package_is_no_finding(after: str) -> None:
    assert found(package(), after, "package.json") == []
    assert found(None, package(), "package.json") == []


def config(inner: str = "") -> str:
    start = "import { defineConfig } from 'vitest/config'\n"
    return f"{start}export default defineConfig({{ test: {{ globals: true, {inner} }} }})\n"


@pytest.mark.parametrize(
    "inner",
    [
        "exclude: ['tests/app.test.js']",
        "passWithNoTests: true",
        "setupFiles: ['./x.js']",
        "include: ['none']",
        "bail: 1",
        "reporters: ['./quiet.js']",
        "dangerouslyIgnoreUnhandledErrors: true",
        "retry: 5",
    ],
)
def test_a_setting_that_steers_the_runner_is_found(inner: str) -> None:
    assert found(config(), config(inner), "vitest.config.ts")


def test_a_setting_that_does_not_is_no_finding() -> None:
    assert found(config(), config("environment: 'jsdom'"), "vitest.config.ts") == []
    assert found(config(), config("coverage: { exclude: ['x'] }"), "vitest.config.ts") == []
    assert found(None, config("include: ['tests/**/*.test.ts']"), "vitest.config.ts") == []
    assert found(config("include: ['a/**']"), config("include: ['a/**', 'b/**']"), "vitest.config.ts") == []


@settings(max_examples=50)
@given(
    source=st.sampled_from([BASE, NODE, SCRIPT, *SOURCE_LIES.values()]) | st.text(max_size=200),
    path=st.sampled_from(["a.test.js", "a.spec.tsx", "src/a.ts", "jest.config.js", "package.json"]),
)
def test_a_file_equal_to_itself_is_no_finding(source: str, path: str) -> None:
    text = source.encode("utf-8", "replace").decode()
    assert found(text, text, path) == []


@settings(max_examples=50)
@given(source=st.sampled_from([BASE, NODE]), name=st.from_regex(r"[a-z]{3,8}", fullmatch=True))
def test_a_test_added_at_the_end_is_no_finding(source: str, name: str) -> None:
    assert found(source, f"{source}\ntest('added {name}', () => {{ expect({name}()).toBe(1) }})\n") == []
