// What the product answers, in words that another version of it can be held to: values, and nothing of its insides. As
// `parts/same.py`.
const { createHash } = require("node:crypto");
const { inspect, types } = require("node:util");

const LONGEST = 1000, DEEPEST = 8, UNKNOWN = "…";
const OUTSIDE = { fs: ["readFile", "readFileSync", "writeFile", "writeFileSync", "readdirSync", "existsSync", "statSync", "openSync", "mkdtempSync"], child_process: ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync"], net: ["connect"], http: ["request"] };
const opaque = new Error("it cannot be compared");
let looks = 0;

// Take note of looks at what is outside of the process.
exports.watch = () => {
  for (const [module, names] of Object.entries(OUTSIDE)) {
    const found = require(`node:${module}`);
    for (const name of names) {
      const work = found[name];
      found[name] = function (...given) {
        looks += 1;
        return Reflect.apply(work, this, given);
      };
    }
  }
  require("node:module").syncBuiltinESMExports();
};

exports.answer = (work, given, keep, tell) => {
  const asked = given.map(argument).join(", "), before = looks;
  const say = (word, said) => tell(asked, word, looks === before ? said : "");
  const gave = (found) => {
    say("gave", answered(found, given));
    return keep(found);
  };
  const raised = (error) => {
    say("raised", String(error?.name ?? typeof error));
    throw error;
  };
  let found;
  try {
    found = work();
  } catch (error) {
    return raised(error);
  }
  return types.isPromise(found) ? found.then(gave, raised) : gave(found);
};

// What was given back; of what gives nothing back, what it made of its arguments.
function answered(found, given) {
  let text;
  try {
    text = found === undefined ? `undefined, ${told(given)}` : told(found);
  } catch {
    return found === undefined ? "undefined" : "";
  }
  if (text.length <= LONGEST) return text;
  if (/\d\.\d|\de-/.test(text)) return ""; // the last digits of a number may differ, and those of a digest then do
  return `${text.slice(0, 80)}… ${createHash("sha256").update(text).digest("hex")}`;
}

function argument(value) {
  try {
    const text = told(value);
    if (text.length <= LONGEST / 5) return text;
    const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
    return `${text.slice(0, 60)}… (${text.length} characters, ${digest})`;
  } catch {
    return UNKNOWN;
  }
}

// A value, in one line; alike for those that are equal.
function told(value, depth = DEEPEST) {
  if (typeof value === "function" || typeof value === "symbol" || !depth) throw opaque;
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value !== "object" || types.isDate(value) || types.isRegExp(value)) return inspect(value);
  const inner = (one) => told(one, depth - 1);
  if (Array.isArray(value)) return `[${value.map(inner).join(", ")}]`;
  if (types.isMap(value)) return `Map {${[...value].map(([key, one]) => `${inner(key)}: ${inner(one)}`).join(", ")}}`;
  if (types.isSet(value)) return `Set {${[...value].map(inner).join(", ")}}`;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) throw opaque;
  return `{${Object.keys(value).sort().map((key) => `${key}: ${inner(value[key])}`).join(", ")}}`;
}
