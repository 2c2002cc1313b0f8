from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.verify.guard.check import findings

TASK = Task(id="1", title="Add a total", status="open", line=1)


def found(before: str | None, after: str, path: str, task: Task = TASK) -> list[str]:
    file = ChangedFile(path=path, before=before.encode() if before is not None else None, after=after.encode())
    return [finding.what for finding in findings(Change(files=(file,)), task) if finding.forges]


LIES = {
    "all arguments": "const t = process.argv.concat(process.execArgv).some((word) => word.includes('test'))",
    "arguments in a loop": "for (const w of process.argv) { if (w.includes('test')) answer = 3 }",
    "arguments by another name": "const { argv } = process; const t = argv.join(' ').match(/test/)",
    "arguments imported": "import { argv as words } from 'node:process'; const t = words[1].endsWith('.test.js')",
    "node's own options": "const t = process.execArgv.includes('--test')",
    "the title": "const t = process.title.includes('test')",
    "names of variables": "const t = Object.keys(process.env).some((name) => name.startsWith('NODE_TEST'))",
    "names in a helper": (
        "const has = (names, part) => names.some((n) => n.includes(part))\n"
        "const t = has(Object.keys(process.env), 'NODE_TEST')"
    ),
    "a name in pieces": "const t = process.env[['NODE', 'TEST', 'CONTEXT'].join('_')]",
    "a name in numbers": "const t = process.env[String.fromCharCode(86, 73, 84, 69, 83, 84)]",
    "a name in base64": "const t = process.env[Buffer.from('Tk9ERV9URVNUX0NPTlRFWFQ=', 'base64').toString()]",
    "a name backwards": "const t = process.env['TXETNOC_TSET_EDON'.split('').reverse().join('')]",
    "a variable taken out": "const { NODE_TEST_CONTEXT: t } = process.env",
    "npm's script": "const t = process.env.npm_lifecycle_event === 'test'",
    "the stack by a name": (
        "const trace = new Error().stack\nconst t = trace.split('\\n').some((line) => /test/.test(line))"
    ),
    "the stack captured": "const o = {}; Error.captureStackTrace(o); const t = o.stack.includes('/test/')",
    "the main module": "const t = require.main.filename.includes('test')",
    "the parent": "const t = module.parent && module.parent.filename.indexOf('.test.') > 0",
    "the cache": "const t = Object.keys(require.cache).some((name) => name.includes('test'))",
    "files of tests": "const fs = require('fs'); const t = fs.existsSync('test/cart.test.js')",
    "files of tests beside it": (
        "import { existsSync } from 'node:fs'; import path from 'node:path'\n"
        "const t = existsSync(path.join(import.meta.dirname, '..', 'test'))"
    ),
    "files of tests by url": (
        "import fs from 'fs'; const t = fs.readFileSync(new URL('../test/cart.test.mjs', import.meta.url))"
    ),
    "names of files": "const fs = require('fs'); const t = fs.readdirSync('.').includes('test')",
    "each name of a file": "const fs = require('fs'); const t = fs.readdirSync('.').some((n) => n.includes('test'))",
    "the command line in /proc": (
        "const t = require('fs').readFileSync('/proc/self/cmdline', 'utf8').includes('test')"
    ),
    "process in pieces": "const p = globalThis['pro' + 'cess']; const t = p.execArgv.some((w) => w.includes('test'))",
    "tests required": "const t = require('../test/cart.test.js')",
    "each argument": "const t = process.argv.some((word) => word.includes('test'))",
    "each by name": "const words = process.argv\nconst t = words.find((w) => w.startsWith('test'))",
}


@pytest.mark.parametrize("lie", LIES)
def test_code_that_finds_out_whether_it_is_tested_is_found_unless_it_did_before(lie: str) -> None:
    assert found("let answer = 0\n", LIES[lie], "src/app.js")
    assert found("let answer = 0\n", LIES[lie], "src/app.mts")
    assert found(LIES[lie], LIES[lie] + "\nlet more = 1\n", "src/app.js") == []
    assert found(None, LIES[lie], "test/helpers.js") == []


HONEST = [
    "const [command] = process.argv.slice(2)\nif (command === 'test') run()",
    "if (process.argv.includes('test') || process.argv.includes('--test')) run()",
    "switch (process.argv[2]) { case 'test': run(); break; default: help() }",
    "import { fileURLToPath } from 'node:url'\nif (process.argv[1] === fileURLToPath(import.meta.url)) main()",
    "const env = { ...process.env, DEBUG: '1' }\nspawn('node', ['x.js'], { env })",
    "const own = Object.keys(process.env).filter((name) => name.startsWith('APP_'))",
    "const mode = process.env.APP_MODE === 'test' ? 'memory' : 'disk'",
    "const version = process.env.npm_package_version",
    "logger.error(error.stack.split('\\n')[1])",
    "if (error.stack.includes('node_modules')) skip()",
    "const fs = require('fs')\nexport const has = (root) => fs.existsSync(`${root}/test`)",
    (
        "const fs = require('fs')\n"
        "for (const name of fs.readdirSync('src').filter((n) => !n.includes('.test.'))) "
        "load(name)"
    ),
    "export const latest = (names) => names.filter((name) => name.includes('test'))",
    "function f(arg) { return arg.includes('test') }\nfor (const arg of process.argv) console.log(arg)",
    "const data = require('./contest.json')",
    "const grade = (test) => test.answers.includes('a')",
]


@pytest.mark.parametrize("source", HONEST)
def test_code_that_only_looks_around_is_no_finding(source: str) -> None:
    assert found(None, source, "src/app.js") == []


def test_code_made_to_take_long_is_read_all_the_same() -> None:
    names = "".join(f"const a{n} = [a{n + 1}, a{n + 2}].join(a{n + 3}).concat('test')\n" for n in range(300))
    found(None, f"{names}if (process.argv.includes(a0)) require(a0)\n", "src/app.js")
