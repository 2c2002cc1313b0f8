// Writes the error that a Deno program ends with to a report, which cannot be trusted: the program could have written it.
const report = Deno.env.get("MILEPOST_REPORT");

function namesOf(error) {
  const names = [];
  for (let proto = Object.getPrototypeOf(error); proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    if (proto.constructor) names.push(String(proto.constructor.name));
  }
  return names;
}

function write(error) {
  const written = error instanceof Error
    ? { names: namesOf(error), message: String(error.message), traceback: String(error.stack), code: error.code ?? null }
    : { names: [typeof error], message: String(error), traceback: String(error), code: null };
  try {
    Deno.writeTextFileSync(report, JSON.stringify(written));
  } catch {}
}

globalThis.addEventListener("error", (event) => write(event.error));
globalThis.addEventListener("unhandledrejection", (event) => write(event.reason));
