// Loaded before anything of the checkout: notes what files of the product do, and fails their functions where these were
// wired to fail. Nothing that judges can be replaced by a file of the product; tests may replace what they like.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { fileURLToPath } = require("node:url");
const { isMainThread } = require("node:worker_threads");

const { writeSync } = fs;
const { stringify } = JSON;
const frames = 200;
const signs = /^(NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST.*)$/;
const runners = /\/node_modules\/(jest-|vitest|@vitest|tinypool|vite-node)/;
const loaders = /^node:internal\/modules\/cjs\/|\/node_modules\/(jest-runtime|vite-node|vite)\//;

module.exports = ({ tops, tests, changed, trip, other, seen: ran, seed, marker, unknown, starts, runs }) => {
  const judging = new Set(tests);
  const product = changed && new Set(changed);
  const seen = new Set();

  const relative = (file) => {
    if (!file) return null;
    const plain = file.startsWith("file://") ? fileURLToPath(file) : file;
    const top = tops.find((each) => plain.startsWith(each + "/"));
    if (!top || plain.includes("/node_modules/")) return null;
    return plain.slice(top.length + 1).split("?")[0];
  };
  const kind = (name) =>
    name === null ? "" : judging.has(name) ? "test" : !product || product.has(name) ? "watched" : "product";

  const stack = (above) => {
    const { prepareStackTrace, stackTraceLimit } = Error;
    try {
      Error.stackTraceLimit = frames;
      Error.prepareStackTrace = (_, sites) => sites;
      const holder = {};
      Error.captureStackTrace(holder, above);
      return Array.isArray(holder.stack) ? holder.stack : [];
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
  // The first caller that is not node itself.
  const caller = (above) => stack(above).find((site) => !String(site.getFileName() ?? "node:").startsWith("node:"));

  const note = (what, name, line, once = what + name) => {
    if (seen.has(once)) return;
    seen.add(once);
    writeSync(2, `\n${marker}${stringify({ what, path: name, line })}\n`);
  };
  const noteCaller = (what, above) => {
    const site = caller(above);
    const name = relative(site?.getFileName());
    if (kind(name) !== "watched") return false;
    note(what, name, site.getLineNumber() ?? 0);
    return true;
  };

  const guard = (thing, label) => {
    for (const [name, how] of Object.entries(Object.getOwnPropertyDescriptors(thing))) {
      if (typeof how.value !== "function" || !how.configurable) continue;
      let value = how.value;
      const set = (next) => {
        if (!noteCaller(`replaces ${label}.${name}`, set)) value = next;
      };
      Object.defineProperty(thing, name, { get: () => value, set, enumerable: how.enumerable, configurable: false });
    }
  };
  const assert = require("node:assert");
  guard(assert, "assert");
  guard(assert.strict, "assert.strict");
  if (process.env.NODE_TEST_CONTEXT) guard(require("node:test"), "test");

  const told = (owner, name, what, isMeant = () => true) => {
    const real = owner[name];
    if (typeof real !== "function") return;
    const wrapped = function (...words) {
      if (isMeant(words)) noteCaller(what, wrapped);
      return Reflect.apply(real, this, words);
    };
    Object.defineProperty(wrapped, "name", { value: name });
    owner[name] = Object.assign(wrapped, real);
  };
  for (const name of ["exit", "reallyExit", "abort"]) told(process, name, "ends the process");
  told(process, "kill", "ends the process", ([pid]) => pid === process.pid || pid === 0);
  told(process, "dlopen", "loads a compiled extension");
  const isTest = ([file]) =>
    typeof file === "string" || file instanceof URL ? judging.has(relative(path.resolve(String(file).replace("file://", "")))) : false;
  for (const name of ["readFileSync", "readFile", "openSync", "open", "createReadStream"])
    told(fs, name, "reads the code of a test", isTest);
  told(fs.promises, "readFile", "reads the code of a test", isTest);
  if (trip && starts) {
    const noteTest = (above) => {
      const site = caller(above);
      const name = relative(site?.getFileName());
      if (kind(name) === "test") note(starts, name, site.getLineNumber() ?? 0);
    };
    const programs = require("node:child_process");
    for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"]) {
      const real = programs[name];
      const started = function (...words) {
        noteTest(started);
        return Reflect.apply(real, this, words);
      };
      programs[name] = Object.defineProperties(started, Object.getOwnPropertyDescriptors(real));
    }
  }
  const vm = require("node:vm");
  for (const name of ["runInThisContext", "runInNewContext", "compileFunction"]) told(vm, name, "runs code from data");
  process.env = new Proxy(process.env, {
    get(target, name) {
      if (typeof name === "string" && signs.test(name)) noteCaller("looks for signs of a test run", this.get);
      return Reflect.get(target, name);
    },
    set(target, name, value) {
      target[name] = value;
      return true;
    },
  });

  // Whether this process, or this thread of one, is no part of the runner: a test had a program of the product started.
  const isProgram = () => {
    if (!isMainThread) return !("__vitest_worker__" in globalThis) && !stack(isProgram).some((site) => runners.test(site.getFileName()));
    if (!process.argv[1]) return process.execArgv.some((word) => /^(-e|-p|-pe|--eval|--print)$/.test(word));
    try {
      return /^(watched|product)$/.test(kind(relative(fs.realpathSync(process.argv[1]))));
    } catch {
      return false;
    }
  };

  // Fails where a test reached the function, not where a module of the product is being loaded or runs by itself.
  const tripped = () => {
    if (isProgram()) throw new Error("the work was taken out");
    for (const site of stack(tripped).slice(1)) {
      const file = String(site.getFileName() ?? "");
      if (kind(relative(file)) === "test") throw new Error("the work was taken out");
      if (loaders.test(file)) return;
    }
  };
  const hide = (name, value) => name && Object.defineProperty(globalThis, name, { value, enumerable: false });
  hide(trip, tripped);
  hide(ran, (name, line) => note(runs, name, line, `${name}:${line}`));
  hide(other, require("./other.cjs")(seed, unknown));
};
