// Tells what vitest found out, from its main process.
import { problem, seal } from "./sealed.cjs";

const outcomes = { pass: "passed", fail: "failed" };

export default class {
  onTestRunEnd(modules, errors, reason) {
    this.tell(modules.map((module) => module.task ?? module), errors, reason);
  }

  onFinished(files = [], errors = []) {
    this.tell(files, errors, "");
  }

  tell(files, errors, reason) {
    seal({
      interrupted: reason === "interrupted",
      files: files.map((file) => ({
        file: file.filepath,
        ms: file.result?.duration ?? 0,
        problem: file.result?.errors?.length ? problem(file.result.errors[0]) : null,
        tests: file.tasks.flatMap((task) => tests(task, [])),
      })),
      errors: errors.map((error) => ({ file: error?.VITEST_TEST_PATH ?? "", ...problem(error) })),
    });
  }
}

function tests(task, above) {
  const titles = [...above, task.name];
  const failed = task.result?.errors?.length ? problem(task.result.errors[0]) : null;
  if (task.type !== "suite") {
    const outcome = outcomes[task.result?.state] ?? "skipped";
    return [{ titles, outcome, ms: task.result?.duration ?? 0, problem: failed }];
  }
  const inside = task.tasks.flatMap((each) => tests(each, titles));
  return failed ? [{ titles, outcome: "failed", ms: 0, problem: failed }, ...inside] : inside;
}
