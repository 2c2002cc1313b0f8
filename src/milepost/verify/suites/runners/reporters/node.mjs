// Tells what node's own test runner found out, from its main process.
import { marker, problem, seal } from "./sealed.cjs";

export default async function* (source) {
  const files = new Map();
  const above = [];
  const said = new Map();
  const notes = [];
  for await (const { type, data } of source) {
    if (type === "test:stderr" && data.message.startsWith(marker)) {
      notes.push(JSON.parse(data.message.slice(marker.length)));
    } else if (type === "test:stderr") {
      said.set(data.file, ((said.get(data.file) ?? "") + data.message).slice(-8000));
    } else if (type === "test:start") {
      above.length = data.nesting;
      above.push(data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      const file = data.file ?? "";
      if (!files.has(file)) files.set(file, { file, ms: 0, problem: null, tests: [] });
      add(files.get(file), data, [...above.slice(0, data.nesting), data.name], type === "test:pass");
    }
  }
  for (const told of files.values()) told.said = said.get(told.file) ?? "";
  seal({ interrupted: false, files: [...files.values()], errors: [], notes });
  yield "";
}

function add(told, data, titles, passed) {
  const ofChildren = data.details?.error?.failureType === "subtestsFailed";
  const left = (data.skip ?? data.todo) !== undefined && data.skip !== false && data.todo !== false;
  if (data.details?.type === "suite" && (passed || ofChildren)) return;
  const error = data.details?.error;
  told.tests.push({
    titles,
    outcome: left ? "skipped" : passed ? "passed" : "failed",
    ms: data.details?.duration_ms ?? 0,
    problem: passed || left ? null : problem(error?.cause instanceof Object ? error.cause : error),
  });
}
