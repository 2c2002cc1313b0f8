// Calls the steps of the file that it is told, and reports how each ended.
//     node main.mjs < order
// The order is a JSON object: `key` seals the report, `report` is where it goes, `steps` the file, `names` which steps.
// With `others` the steps are called with other values, and what the product answers is reported (`observe.cjs`).
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

import { createRequire, syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";

import kit from "./kit.cjs";

const briefMs = 2000, longestMs = 10000, mostRounds = 40;
const require = createRequire(import.meta.url);

const { key, report, steps, names, others } = JSON.parse(readFileSync(0, "utf8"));
const exit = process.reallyExit.bind(process);
const { stringify } = JSON;

function tell(told) {
  const body = stringify(told);
  writeFileSync(report, createHmac("sha256", key).update(body).digest("hex") + "\n" + body);
}

// What is loosely equal to a number or a text is none: an object that only says so when it is asked is another thing.
const assert = require("node:assert");
const { equal, AssertionError } = assert;
const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
assert.equal = (got, wanted, ...more) => {
  if (isObject(got) !== isObject(wanted)) throw new AssertionError({ actual: got, expected: wanted, operator: "strictEqual" });
  return equal(got, wanted, ...more);
};
syncBuiltinESMExports();

// The process looks as if it had been started at a terminal, days ago.
const days = 777777, uptime = process.uptime.bind(process), now = performance.now.bind(performance);
process.uptime = () => uptime() + days;
performance.now = () => now() + days * 1000;
for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true;

tell({ ended: false, crash: "", results: [], later: [] });
if (others) {
  process.on("unhandledRejection", () => undefined);
  const { observe } = require("./observe.cjs");
  const tellSeen = (found) => tell({ ended: true, crash: "", ...found });
  tellSeen(await observe(load, names, others, tellSeen));
  exit(0);
}
try {
  await load();
} catch (error) {
  tell({ ended: true, crash: String(error?.message ?? error).split("\n")[0], results: [], later: [] });
  exit(0);
}
const began = Date.now();
const results = await kit.callSteps(new Set(names));
tell({ ended: true, crash: "", results, later: [] });
if (Date.now() - began < briefMs) {
  setTimeout(() => exit(0), longestMs); // whatever hangs the second time has been told the first time
  const later = await again(new Set(results.filter(([word]) => word === "passed").map(([, path]) => path)));
  tell({ ended: true, crash: "", results, later });
}
exit(0);

// Call the steps over and over, backwards first, each time by a fresh module; until one ends otherwise.
async function again(passed) {
  const until = Date.now() + briefMs;
  for (let count = 0; count < mostRounds; count++) {
    kit.forget();
    try {
      await load(count);
    } catch {
      return [];
    }
    const found = (await kit.callSteps(passed, count % 2 === 0)).filter(([word]) => word !== "passed");
    if (found.length || Date.now() > until) return found;
  }
  return [];
}

// The file of the steps, anew where it is loaded once more.
async function load(count) {
  if (count === undefined) return import(steps);
  if (!steps.endsWith(".cjs")) return import(`${steps}?${count}`);
  delete require.cache[fileURLToPath(steps)];
  return require(fileURLToPath(steps));
}
