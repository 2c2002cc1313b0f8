// Writes down the error that a script of Deno ends with. What it writes is the script's own word.
const report = Deno.env.get("MILEPOST_REPORT");

function namesOf(error) {
  const names = [];
  for (let proto = Object.getPrototypeOf(error); proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    if (proto.constructor) names.push(String(proto.constructor.name));
  }
  return names;
}

function write(error) {
  const told = error instanceof Error
    ? { names: namesOf(error), message: String(error.message), traceback: String(error.stack), code: error.code ?? null }
    : { names: [typeof error], message: String(error), traceback: String(error), code: null };
  try {
    Deno.writeTextFileSync(report, JSON.stringify(told));
  } catch {}
}

globalThis.addEventListener("error", (event) => write(event.error));
globalThis.addEventListener("unhandledrejection", (event) => write(event.reason));
