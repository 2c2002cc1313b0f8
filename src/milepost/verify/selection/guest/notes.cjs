// Notes the test runs that node processes of a command start; preloaded by NODE_OPTIONS, before the program.
"use strict";

const NOTES = "MILEPOST_NOTES", BELOW = "MILEPOST_BELOW_A_RUN";

function isRun(words) {
  return words.includes("--test") || words.some((word) => /(^|\/)node_modules\/(\.bin\/)?(jest|vitest)(\/|$)/.test(word));
}

try {
  const { isMainThread } = require("node:worker_threads");
  const words = [...process.execArgv, ...process.argv.slice(1)];
  if (isMainThread && process.env[NOTES] && !process.env[BELOW] && isRun(words)) {
    const told = { kind: "node", argv: ["node", ...words], cwd: process.cwd(), env: { ...process.env } };
    const name = `${process.pid}-${require("node:crypto").randomBytes(4).toString("hex")}.json`;
    const path = require("node:path").join(process.env[NOTES], name);
    const { writeFileSync } = require("node:fs");
    writeFileSync(path, JSON.stringify(told));
    process.env[BELOW] = "1";
    process.on("exit", (code) => writeFileSync(`${path}.end`, code ? "failed" : "passed"));
  }
} catch {}
