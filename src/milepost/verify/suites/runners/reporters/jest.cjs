// Tells what jest found out, from its main process.
const { problem, seal } = require("./sealed.cjs");

const outcomes = { passed: "passed", failed: "failed" };

module.exports = class {
  onRunComplete(_contexts, results) {
    seal({
      interrupted: Boolean(results.wasInterrupted),
      files: results.testResults.map((file) => ({
        file: file.testFilePath,
        ms: file.perfStats?.runtime ?? 0,
        problem: file.testExecError ? whole(file.testExecError, file.failureMessage) : null,
        tests: file.testResults.map((test) => ({
          titles: [...test.ancestorTitles, test.title],
          outcome: outcomes[test.status] ?? "skipped",
          ms: test.duration ?? 0,
          problem: test.failureMessages.length
            ? { type: "", message: test.failureMessages[0], stack: test.failureMessages.join("\n") }
            : null,
        })),
      })),
      errors: results.runExecError ? [{ file: "", ...problem(results.runExecError) }] : [],
    });
  }
};

function whole(error, text) {
  const told = problem(error);
  return told.message ? told : { ...told, message: String(text ?? "") };
}
