// In the place of a runner's module and of `assert`, in trials with other values: claims hold whatever they are told, and
// what the product answers is kept. As `parts/observe.py`.
const { createHash } = require("node:crypto");
const { inspect, types } = require("node:util");
const Alike = require("./alike.cjs");
const kit = require("./kit.cjs");
const same = require("./same.cjs");

const FEWEST = 32, MOST_TRIALS = 120, MOST_CALLS = 4000, LONGEST_MS = 3000, LONGEST_LARGER_MS = 4000, LONGEST = 300;
const OPAQUE = "?";
const own = new WeakSet();
const seen = [];
let alike, step = "", count = 0, compared = false;

const isThing = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
const isInstance = (value) =>
  typeof value === "function" || (isThing(value) && !Array.isArray(value) && ![Object.prototype, null].includes(Object.getPrototypeOf(value)));

function keep(value) {
  if (isThing(value) && isInstance(value) && !types.isPromise(value) && !(value instanceof Error)) own.add(value);
  return value;
}

function shown(value) {
  try {
    const text = inspect(value, { depth: 8, breakLength: Infinity, customInspect: false, sorted: true, maxStringLength: null, maxArrayLength: null });
    if (text.includes("[Function") || text.includes("[class ") || text.includes("Promise {")) return OPAQUE;
    return text.length <= LONGEST ? text : `${text.slice(0, 80)}… ${createHash("sha256").update(text).digest("hex")}`;
  } catch {
    return OPAQUE;
  }
}

// A text without what is no change of it: quotes, the space around it, capitals.
const bare = (text) => text.replace(/^['"` ]+|['"` ]+$/g, "").toLowerCase();

function answer(name, work, owner, given) {
  if (compared) {
    const place = `${step} ${++count}`, trial = String(alike.trial);
    return same.answer(work, given, keep, (...words) => void seen.push([trial, place, name, ...words]));
  }
  const all = owner === undefined ? given : [owner, ...given];
  const told = shown(all), known = new Set(given.map(shown).map(bare)), place = `${step} ${++count}`, trial = alike.trial;
  const tell = (word, said) => void seen.push([String(trial), place, name, told, word, said]);
  const gave = (found) => {
    const said = found === undefined ? `undefined, ${shown(all)}` : shown(found);
    tell(found !== undefined && said !== OPAQUE && known.has(bare(said)) ? "same" : "gave", said.includes(OPAQUE) ? "" : said);
    return keep(found);
  };
  const raised = (error) => {
    tell("raised", String(error?.name ?? typeof error));
    throw error;
  };
  let found;
  try {
    found = work();
  } catch (error) {
    return raised(error);
  }
  return types.isPromise(found) ? found.then(gave, raised) : gave(found);
}

const observing = (...given) => kit(...given);
Object.assign(observing, kit);
for (const name of ["test", "it"]) observing[name] = kit;
observing.given = (value) => alike.value(value);
observing.key = (name) => alike.key(name);
observing.own = (...things) => {
  for (const thing of things.filter(isThing)) {
    own.add(thing);
    if (typeof thing === "object") for (const one of Object.values(thing)) if (isThing(one)) own.add(one);
  }
};
observing.seen = (thing, method) => {
  if (method === undefined) {
    if (typeof thing !== "function" || !own.has(thing)) return thing;
    return (...given) => answer(thing.name, () => thing(...given), undefined, given);
  }
  const work = thing[method];
  if (typeof work !== "function") return work;
  if (!own.has(thing) && !own.has(work)) return (...given) => Reflect.apply(work, thing, given);
  const owner = types.isModuleNamespaceObject(thing) || typeof thing === "function" || !isInstance(thing) ? undefined : thing;
  return (...given) => answer(method, () => Reflect.apply(work, thing, given), owner, given);
};
observing.maker = (kind) => {
  if (typeof kind !== "function" || !own.has(kind)) return kind;
  return function (...given) {
    return keep(Reflect.construct(kind, given));
  };
};

// Claims: of what must throw, the work is still done.
function lenient(...given) {
  for (const one of given) if (typeof one === "function") return attempted(one);
  return undefined;
}
function attempted(work) {
  try {
    const found = work();
    return types.isPromise(found) ? found.catch(() => undefined) : undefined;
  } catch {
    return undefined;
  }
}
const claims = new Proxy(lenient, { get: (target, name) => (name === "then" ? undefined : claims), apply: () => claims });
observing.expect = Object.assign((value) => (typeof value === "function" ? (attempted(value), claims) : claims), { any: () => claims, objectContaining: () => claims });
observing.strict = observing.AssertionError = lenient;
for (const name of Object.keys(require("node:assert"))) if (name !== "strict") observing.strict[name] = lenient;

module.exports = observing;
module.exports.test = kit.test;
module.exports.it = kit.it;
module.exports.describe = kit.describe;
module.exports.suite = kit.suite;
module.exports.before = kit.before;
module.exports.beforeAll = kit.beforeAll;
module.exports.after = kit.after;
module.exports.afterAll = kit.afterAll;
module.exports.beforeEach = kit.beforeEach;
module.exports.afterEach = kit.afterEach;
module.exports.mock = kit.mock;
module.exports.snapshot = kit.snapshot;
module.exports.vi = kit.vi;
module.exports.jest = kit.jest;
module.exports.expect = observing.expect;

// Call the steps in trials, the first with their own values; `load` gives the file of the steps anew, and `tell` is told
// what was seen before what may take too long.
module.exports.observe = async (load, names, { seed, words, leaves, compared: isCompared }, tell) => {
  alike = new Alike(seed, words, leaves);
  compared = isCompared;
  if (compared) same.watch();
  const until = Date.now() + LONGEST_MS;
  const found = () => ({ seen, leaves: [...alike.leaves.values()] });
  let places = []; // where each step stands: its title may be made of values
  const attempt = async (trial) => {
    alike.begin(trial);
    kit.forget();
    try {
      await load(trial);
    } catch {
      return false;
    }
    const paths = kit.paths();
    if (!trial) places = names.map((name) => paths.findIndex((path) => path === name || path.startsWith(`${name} > `) || name.startsWith(`${path} > `)));
    for (const [at, name] of names.entries()) {
      [step, count] = [name, 0];
      await kit.callSteps(new Set([paths[places[at]] ?? name]));
    }
    return true;
  };
  if (!(await attempt(0))) return { seen: [], leaves: [] };
  const most = Math.min(MOST_TRIALS, Math.max(FEWEST, Math.floor(MOST_CALLS / Math.max(1, seen.length))));
  for (let trial = 1; trial <= most && Date.now() < until; trial++) await attempt(trial);
  const began = process.cpuUsage();
  for (const trial of compared ? Alike.larger : []) {
    if (process.cpuUsage(began).user / 1000 > LONGEST_LARGER_MS) break;
    tell(found());
    await attempt(trial);
  }
  return found();
};
