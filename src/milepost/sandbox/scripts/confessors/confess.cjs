// Writes down the error that a script of Node ends with. What it writes is the script's own word.
"use strict";

const { writeFileSync } = require("node:fs");
const report = process.env.MILEPOST_REPORT;
delete process.env.MILEPOST_REPORT;

function namesOf(error) {
  const names = [];
  for (let proto = Object.getPrototypeOf(error); proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    if (proto.constructor) names.push(String(proto.constructor.name));
  }
  return names;
}

process.on("uncaughtExceptionMonitor", (error) => {
  const told = error instanceof Error
    ? { names: namesOf(error), message: String(error.message), traceback: String(error.stack), code: error.code ?? null }
    : { names: [typeof error], message: String(error), traceback: String(error), code: null };
  try {
    writeFileSync(report, JSON.stringify(told));
  } catch {}
});
