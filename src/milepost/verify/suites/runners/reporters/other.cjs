// Another value of the same type, which does not equal the first: what a test does not expect.
"use strict";

module.exports = (seed, unknown) => {
  let state = parseInt(seed.slice(0, 8), 16) || 1;
  const below = (most) => (state = (state * 48271) % 2147483647) % most;
  const none = () => {
    throw new Error(unknown);
  };

  const text = (value) => {
    const at = below(value.length || 1);
    const signs = "abcdefghik".replace(value[at] ?? "", "");
    return value.slice(0, at) + signs[below(signs.length)] + value.slice(at + 1);
  };
  const oneChanged = (keys, get, set) => {
    const start = below(keys.length || 1);
    for (let step = 0; step < keys.length; step++) {
      const key = keys[(start + step) % keys.length];
      try {
        set(key, other(get(key)));
        return true;
      } catch (problem) {
        if (problem.message !== unknown) throw problem;
      }
    }
    return false;
  };
  // Of a class of the project: where it shows no value, it may keep all of them private.
  const isOwn = (value) => typeof value.constructor === "function" && !/\[native code\]/.test(value.constructor);
  const thing = (value) => {
    if (value instanceof Date || Object.prototype.toString.call(value) === "[object Date]")
      return new value.constructor(Number(value) + 86400000 * (1 + below(9)));
    if (Array.isArray(value)) {
      const copy = value.slice();
      if (!oneChanged([...copy.keys()], (at) => value[at], (at, next) => (copy[at] = next)))
        copy.length ? none() : copy.push(3);
      return copy;
    }
    if (value instanceof Map || value instanceof Set) {
      const copy = new value.constructor(value);
      value instanceof Map ? copy.set("a", 3) : copy.add(below(1000) + 1000);
      return copy;
    }
    const copy = Object.create(Object.getPrototypeOf(value), Object.getOwnPropertyDescriptors(value));
    const set = (key, next) => Object.defineProperty(copy, key, { ...Object.getOwnPropertyDescriptor(value, key), value: next });
    const keys = Object.keys(value).filter((key) => "value" in Object.getOwnPropertyDescriptor(value, key));
    if (!oneChanged(keys, (key) => value[key], set)) keys.length || isOwn(value) ? none() : (copy.a = 3);
    return copy;
  };
  const other = (value) => {
    switch (typeof value) {
      case "boolean":
        return !value;
      case "number":
        return Number.isFinite(value) ? value + (Math.abs(value) + 1) * (2 + below(8)) : 1.5;
      case "bigint":
        return value + BigInt(2 + below(8));
      case "string":
        return text(value);
      case "undefined":
        return false;
      case "object":
        return value === null ? false : thing(value);
      default:
        return none();
    }
  };
  return other;
};
