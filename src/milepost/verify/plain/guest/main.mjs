// Calls the steps of the file that it is told, and reports how each ended.
//     node main.mjs < order
// The order is a JSON object: `key` seals the report, `report` is where it goes, `steps` the file, `names` which steps.
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

import kit from "./kit.cjs";

const { key, report, steps, names } = JSON.parse(readFileSync(0, "utf8"));
const exit = process.reallyExit.bind(process);
const { stringify } = JSON;

function tell(told) {
  const body = stringify(told);
  writeFileSync(report, createHmac("sha256", key).update(body).digest("hex") + "\n" + body);
}

tell({ ended: false, crash: "", results: [] });
try {
  await import(steps);
} catch (error) {
  tell({ ended: true, crash: String(error?.message ?? error).split("\n")[0], results: [] });
  exit(0);
}
tell({ ended: true, crash: "", results: await kit.callSteps(new Set(names)) });
exit(0);
