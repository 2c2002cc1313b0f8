// The inside of a session: runs the code it is sent. What it answers is the code's own word.
import { stripTypeScriptTypes } from "node:module";
import process from "node:process";

const port = await new Promise((resolve) => self.onmessage = ({ ports }) => resolve(ports[0]));
const post = port.postMessage.bind(port);
const evaluate = globalThis.eval;
const { stringify } = JSON;
const say = console.error.bind(console);
let number = 0;

// The standard output is the keeper's channel: what the code says goes where its errors go.
for (const name of ["log", "info", "debug"]) console[name] = console.error;
for (const place of [Deno, process]) {
  Object.defineProperty(place, "stdout", { value: place.stderr });
  Object.defineProperty(place, "stdin", { value: undefined });
}
const exit = (code = 0) => {
  post({ kind: "exit", code });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
for (const [place, name] of [[Deno, "exit"], [process, "exit"], [self, "close"]]) {
  Object.defineProperty(place, name, { value: exit });
}
for (const kind of ["error", "unhandledrejection"]) {
  self.addEventListener(kind, (event) => {
    event.preventDefault();
    console.error(event.reason ?? event.error ?? event.message);
  });
}

self.onmessage = null;
port.onmessage = async ({ data: question }) => {
  number += 1;
  const answers = [];
  globalThis.finalAnswer = (value, { verifiedBy } = {}) => {
    const valueJson = toJson(value);
    if (valueJson === undefined) throw new TypeError("the final answer cannot be written as JSON");
    answers.push({ valueJson, verifiedBy: verifiedBy === undefined ? null : String(verifiedBy) });
    if (answers.length > 1) throw new Error("finalAnswer was called twice in one run");
  };
  Object.assign(globalThis, question.inject);
  const place = `run-${number}`;
  let error = null;
  let value = null;
  try {
    const [script, moved] = question.typed ? withoutTypes(question.script) : [question.script, ""];
    value = await evaluate(`${script}\n//# sourceURL=${place}${moved}`);
  } catch (problem) {
    error = describe(problem, place);
  }
  if (answers.length > 1) error ??= "Error: finalAnswer was called twice in one run";
  const isFinal = error === null && answers.length === 1;
  const last = { valueJson: error === null && !isFinal ? lastJson(value, place) : "null", verifiedBy: null };
  post({ kind: "answer", error, isFinal, ...(isFinal ? answers[0] : last) });
};

// Blanking types out leaves every line where it was; enums and namespaces need more than that, and move the lines.
function withoutTypes(script) {
  try {
    return [stripTypeScriptTypes(script, { mode: "strip" }), ""];
  } catch {
    return [stripTypeScriptTypes(script, { mode: "transform" }), ", moved"];
  }
}

// The value of the last expression; if it is one that cannot be told, that is said where the code's output goes.
function lastJson(value, place) {
  let why = `JSON has nothing for this ${typeof value}`;
  try {
    const json = stringify(value);
    if (json !== undefined || value === undefined) return json ?? "null";
  } catch (problem) {
    why = describe(problem, place).split("\n")[0];
  }
  say(`the last value is not told: ${why}`);
  return "null";
}

function toJson(value) {
  try {
    return stringify(value);
  } catch {
    return undefined;
  }
}

// `TypeError: message (line n)`, the line being one of this run's own code.
function describe(problem, place) {
  try {
    if (!(problem instanceof Error)) return `thrown: ${toJson(problem) ?? String(problem)}`.slice(0, 2000);
    const [message] = String(problem.message).replace(/^SyntaxError: /, "").split("\n  |");
    const where = `${problem.message}\n${problem.stack}`;
    const line = where.match(new RegExp(`(?:${place}(?:, <anonymous>)?|stripTypeScriptTypes.ts):(\\d+)`));
    return `${problem.name}: ${message}`.slice(0, 2000) + (line ? ` (line ${line[1]})` : "");
  } catch {
    return "Error: <no message: reading the error failed>";
  }
}

post({ kind: "ready" });
