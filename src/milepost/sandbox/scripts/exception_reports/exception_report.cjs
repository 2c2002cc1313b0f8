// Writes the error that a Node program ends with to a report, and finds packages of NODE_PATH for `import` as well.
// The report cannot be trusted: the program could have written it itself.
"use strict";

const { writeFileSync } = require("node:fs");
const { register } = require("node:module");
const { pathToFileURL } = require("node:url");
const report = process.env.MILEPOST_REPORT;

if (process.env.NODE_PATH && register) {
  register("./node_path.mjs", pathToFileURL(__filename), { data: process.env.NODE_PATH.split(":") });
}

function namesOf(error) {
  const names = [];
  for (let proto = Object.getPrototypeOf(error); proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    if (proto.constructor) names.push(String(proto.constructor.name));
  }
  return names;
}

process.on("uncaughtExceptionMonitor", (error) => {
  const written = error instanceof Error
    ? { names: namesOf(error), message: String(error.message), traceback: String(error.stack), code: error.code ?? null }
    : { names: [typeof error], message: String(error), traceback: String(error), code: null };
  try {
    writeFileSync(report, JSON.stringify(written));
  } catch {}
});
