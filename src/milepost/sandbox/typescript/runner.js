// The keeper of a session: puts each question of the host to a worker that runs the code, and says what the worker says.
// The question's nonce stays in this isolate; the code runs in another one and cannot read it here. They speak over a
// port that only the worker's own part has: what the code posts by itself goes nowhere.
// A frame is four bytes of length, the first one the highest, and JSON.

import { cpuUsage } from "node:process";

const LONGEST_FRAME = 4_000_000;
const LOOK_AT_CPU_MS = 20;
const { stdin, stdout, exit } = Deno;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const permissions = Deno.args[0] === "imports" ? { import: true } : "none";
const worker = new Worker(import.meta.resolve("./worker.js"), { type: "module", deno: { permissions } });
const { port1: port, port2: theirs } = new MessageChannel();
const ready = Promise.withResolvers();
let nonce = null;
let look = null;

port.onmessage = ({ data }) => {
  if (data?.kind === "ready") ready.resolve();
  else if (data?.kind === "exit") exit(Number.isInteger(data.code) ? data.code & 255 : 1);
  else if (data?.kind === "answer" && nonce !== null) answer(data);
};
worker.onerror = (event) => {
  event.preventDefault();
  exit(1);
};

worker.postMessage(null, [theirs]);

function answer(said) {
  const answered = {
    nonce,
    error: said.error === null ? null : String(said.error),
    is_final: said.isFinal === true,
    value_json: String(said.valueJson),
    verified_by: said.verifiedBy === null ? null : String(said.verifiedBy),
    memory_bytes: Deno.memoryUsage().rss,
  };
  nonce = null;
  clearInterval(look);
  const body = encoder.encode(JSON.stringify(answered));
  if (body.length <= LONGEST_FRAME) return write(body);
  const error = `RangeError: the value is longer than ${LONGEST_FRAME} bytes`;
  const nothing = { is_final: false, value_json: "null", verified_by: null };
  write(encoder.encode(JSON.stringify({ ...answered, ...nothing, error })));
}

// The code has a thread of its own, so that this one can watch it however busy it is.
function boundCpu(seconds) {
  const used = () => (({ user, system }) => (user + system) / 1e6)(cpuUsage());
  const until = used() + seconds;
  look = setInterval(() => {
    if (used() > until) write(encoder.encode(JSON.stringify({ nonce, excess: "cpu" })));
  }, LOOK_AT_CPU_MS);
}

function write(body) {
  const header = new Uint8Array(4);
  new DataView(header.buffer).setUint32(0, body.length);
  for (let rest of [header, body]) {
    while (rest.length > 0) rest = rest.subarray(stdout.writeSync(rest));
  }
}

async function read(size) {
  const text = new Uint8Array(size);
  for (let length = 0; length < size; ) {
    const piece = await stdin.read(text.subarray(length));
    if (piece === null) exit(0);
    length += piece;
  }
  return text;
}

await ready.promise;
write(encoder.encode('"ready"'));
while (true) {
  const size = new DataView((await read(4)).buffer).getUint32(0);
  const question = JSON.parse(decoder.decode(await read(size)));
  const { cpu_s, ...theCode } = question;
  nonce = question.nonce;
  delete theCode.nonce;
  if (cpu_s !== null) boundCpu(cpu_s);
  port.postMessage(theCode);
}
