// The comparisons that most steps are written with; one that is not here makes a step unfit.
const { isDeepStrictEqual } = require("node:util");

class Unfit extends Error {}
class Unequal extends Error {
  name = "Unequal";
}

// `toEqual` takes a property that is undefined for one that is not there, and looks at no class.
function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  if (value === null || typeof value !== "object") return value;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) return value;
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined).map(([key, one]) => [key, bare(one)]));
}

function throws(work, expected) {
  let error;
  try {
    if (typeof work !== "function") throw work;
    work();
    return false;
  } catch (caught) {
    error = caught;
  }
  if (expected === undefined) return true;
  const message = String(error?.message ?? error);
  if (typeof expected === "string") return message.includes(expected);
  if (expected instanceof RegExp) return expected.test(message);
  return typeof expected === "function" ? error instanceof expected : message === expected.message;
}

const MATCHERS = {
  toBe: (got, wanted) => Object.is(got, wanted),
  toEqual: (got, wanted) => isDeepStrictEqual(bare(got), bare(wanted)),
  toStrictEqual: (got, wanted) => isDeepStrictEqual(got, wanted),
  toBeNull: (got) => got === null,
  toBeUndefined: (got) => got === undefined,
  toBeDefined: (got) => got !== undefined,
  toBeTruthy: (got) => Boolean(got),
  toBeFalsy: (got) => !got,
  toBeNaN: (got) => Number.isNaN(got),
  toBeGreaterThan: (got, wanted) => got > wanted,
  toBeGreaterThanOrEqual: (got, wanted) => got >= wanted,
  toBeLessThan: (got, wanted) => got < wanted,
  toBeLessThanOrEqual: (got, wanted) => got <= wanted,
  toBeCloseTo: (got, wanted, digits = 2) => got === wanted || Math.abs(got - wanted) < 10 ** -digits / 2,
  toBeInstanceOf: (got, wanted) => got instanceof wanted,
  toContain: (got, wanted) => (typeof got === "string" ? got.includes(wanted) : [...got].includes(wanted)),
  toContainEqual: (got, wanted) => [...got].some((one) => isDeepStrictEqual(bare(one), bare(wanted))),
  toHaveLength: (got, wanted) => got.length === wanted,
  toMatch: (got, wanted) => (typeof wanted === "string" ? got.includes(wanted) : wanted.test(got)),
  toThrow: throws,
  toThrowError: throws,
};

function compare(name, got, wanted, not) {
  if (Boolean(MATCHERS[name](got, ...wanted)) === not) {
    const shown = (value) => require("node:util").inspect(value, { breakLength: Infinity }).slice(0, 80);
    throw new Unequal(`${shown(got)} ${not ? "not " : ""}${name} ${wanted.map(shown).join(", ")}`);
  }
}

function expected(got, not = false, wait = "") {
  return new Proxy({}, {
    get(_, name) {
      if (name === "not") return expected(got, !not, wait);
      if (name === "resolves" || name === "rejects") return expected(got, not, name);
      if (!Object.hasOwn(MATCHERS, name)) throw new Unfit(`there is no ${String(name)} here`);
      return (...wanted) => (wait ? later(wait, name, got, wanted, not) : compare(name, got, wanted, not));
    },
  });
}

async function later(wait, name, got, wanted, not) {
  let value;
  try {
    value = await got;
  } catch (error) {
    if (wait === "resolves") throw error;
    return compare(name, error, wanted, not);
  }
  if (wait === "rejects") throw new Unequal("it was not rejected");
  return compare(name, value, wanted, not);
}

const known = (got) => expected(got);
exports.expect = new Proxy(known, {
  get(_, name) {
    throw new Unfit(`there is no expect.${String(name)} here`);
  },
});
exports.Unfit = Unfit;
