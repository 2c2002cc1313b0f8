// In the place of a runner's own module: keeps the steps that a file describes, and calls those that are asked for.
const expect = require("./expect.cjs");
const { dirname, sep } = require("node:path");

const here = [process.cwd() + sep, dirname(__filename) + sep];
let root = newGroup("", null);
let current = root;

function newGroup(title, above) {
  return { title, above, parts: [], before: [], after: [], beforeEach: [], afterEach: [] };
}

function parsed(given) {
  const title = typeof given[0] === "string" ? given[0] : (given.find((one) => typeof one === "function")?.name ?? "");
  const options = given.find((one) => one !== null && typeof one === "object") ?? {};
  return { title, work: given.find((one) => typeof one === "function"), left: Boolean(options.skip || options.todo) };
}

function step(...given) {
  current.parts.push(parsed(given));
  return Promise.resolve();
}

function group(...given) {
  const { title, work, left } = parsed(given);
  const inside = newGroup(title, current);
  if (left || !work) return;
  current.parts.push(inside);
  current = inside;
  try {
    work();
  } finally {
    current = inside.above;
  }
}

const none = () => undefined;
for (const one of [step, group]) Object.assign(one, { skip: none, todo: none, only: one });
// What only a runner has: a step that uses it is unfit, and others are not.
const absent = (name) =>
  new Proxy(function () {}, {
    get: (_, part) => (typeof part === "symbol" ? undefined : absent(`${name}.${part}`)),
    apply: () => { throw new expect.Unfit(`there is no ${name} here`); },
    construct: () => { throw new expect.Unfit(`there is no ${name} here`); },
  });
const around = (when) => (work) => void current[when].push(work);

module.exports = step;
module.exports.test = step;
module.exports.it = step;
module.exports.describe = group;
module.exports.suite = group;
module.exports.before = around("before");
module.exports.beforeAll = around("before");
module.exports.after = around("after");
module.exports.afterAll = around("after");
module.exports.beforeEach = around("beforeEach");
module.exports.afterEach = around("afterEach");
module.exports.expect = expect.expect;
module.exports.mock = absent("mock");
module.exports.snapshot = absent("snapshot");
module.exports.vi = absent("vi");
module.exports.jest = absent("jest");
module.exports.forget = () => {
  root = current = newGroup("", null);
};
module.exports.paths = () => pathsOf(root, []);
module.exports.callSteps = async (names, backwards = false) => {
  const results = [];
  await callGroup(root, [], names, results, backwards);
  return results;
};

function pathsOf(one, titles) {
  return one.parts.flatMap((part) => {
    const path = [...titles, part.title];
    return part.parts ? pathsOf(part, path) : [path.join(" > ")];
  });
}

async function callGroup(one, titles, names, results, backwards) {
  const wanted = (part, path) => [...names].some((name) => name === path || name.startsWith(`${path} > `));
  const chosen = one.parts.filter((part) => wanted(part, [...titles, part.title].join(" > ")));
  if (chosen.length === 0) return;
  const problem = await problemOf(async () => {
    for (const work of one.before) await work();
  });
  for (const part of backwards ? [...chosen].reverse() : chosen) {
    const path = [...titles, part.title];
    if (part.parts && !problem) await callGroup(part, path, names, results, backwards);
    else if (!part.parts) await callStep(one, part, path, results, problem);
  }
  await problemOf(async () => {
    for (const work of one.after) await work();
  });
}

async function callStep(one, part, path, results, earlier) {
  const above = [];
  for (let each = one; each; each = each.above) above.unshift(each);
  const own = { title: part.title, diagnostic: none, name: part.title, signal: new AbortController().signal };
  const inner = new Proxy(own, { get: (has, name) => has[name] ?? (typeof name === "symbol" ? undefined : absent(`t.${name}`)) });
  inner.test = async (...given) => callStep({ ...newGroup("", null) }, parsed(given), [...path, parsed(given).title], results);
  const problem =
    earlier ??
    (part.left || !part.work ? new expect.Unfit("it is skipped") : undefined) ??
    (await problemOf(async () => {
      for (const each of above) for (const work of each.beforeEach) await work(inner);
      await part.work(inner);
      for (const each of [...above].reverse()) for (const work of each.afterEach) await work(inner);
    }));
  results.push([problem ? ending(problem.error ?? problem) : "passed", path.join(" > "), problem ? text(problem) : ""]);
}

async function problemOf(work) {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}

// As in Python: `failed` by a comparison, `broke` by another failure of it or the product, `unfit` for want of a
// runner, and `apart` where what went wrong may be the surroundings.
function ending(error) {
  if (error instanceof expect.Unfit) return "unfit";
  if (error?.code === "ERR_ASSERTION" || ["AssertionError", "Unequal"].includes(error?.name)) return "failed";
  if (/not (yet )?implemented/i.test(String(error?.message))) return "failed";
  if (error?.code !== undefined || !(error instanceof Error)) return "apart";
  const frame = String(error.stack).split("\n").find((line) => /^\s+at /.test(line)) ?? "";
  return here.some((place) => frame.includes(place)) && !frame.includes("node_modules") ? "broke" : "apart";
}

function text({ error }) {
  return `${error?.name ?? "Error"}: ${String(error?.message ?? error).split("\n")[0]}`.slice(0, 300);
}
