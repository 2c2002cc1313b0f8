// Parses JavaScript with the project's own Node, and runs none of it.
//
// Its input is a JSON list of [kind, path], the kind being esm, cjs or either; its output a JSON object: `broken` holds
// [index, line, message, signs] of each file that does not parse, the signs being the two that the parser stopped at.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { SourceTextModule, compileFunction } from "node:vm";

const LONGEST_MESSAGE = 200;
const PLACES = 50;
const GIVEN = ["exports", "require", "module", "__filename", "__dirname"];

const asModule = (text) => new SourceTextModule(text, { identifier: "file" });
const asScript = (text) => compileFunction(text, GIVEN, { filename: "file" });
const PARSERS = { esm: [asModule], cjs: [asScript], either: [asModule, asScript] };

function problemOf(text, parsers) {
  let first = null;
  for (const parse of parsers) {
    try {
      parse(text);
      return null;
    } catch (problem) {
      first ??= problem;
    }
  }
  return first;
}

function placeOf(text, kind) {
  // A module's error does not tell where it is; Node's own check does.
  const type = kind === "cjs" ? "commonjs" : "module";
  const { stderr } = spawnSync(process.execPath, ["--check", `--input-type=${type}`, "-"], { input: text });
  const [, line, , caret] = /^\[stdin\]:(\d+)\n(.*)\n( *)\^/m.exec(String(stderr)) ?? [];
  return { line: Number(line ?? 0), column: caret?.length };
}

const broken = [];
JSON.parse(readFileSync(0, "utf8")).forEach(([kind, path], index) => {
  const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "").replace(/^#!/, "//");
  const problem = problemOf(text, PARSERS[kind]);
  if (problem === null) return;
  const { line, column } = broken.length < PLACES ? placeOf(text, kind) : { line: 0 };
  const signs = column === undefined ? "" : (text.split("\n")[line - 1] ?? "").slice(column, column + 2);
  broken.push([index, line, String(problem.message).slice(0, LONGEST_MESSAGE), signs]);
});
process.stdout.write(JSON.stringify({ broken }));
