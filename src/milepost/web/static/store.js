// The one state, the signals that tell which part of it changed, and what the person chose.
import { signal } from './libraries.js';
import { PARTS, empty } from './state.js';

export let state = empty();
export const changed = Object.fromEntries(PARTS.map(name => [name, signal(0)]));

export const link = signal('connecting'); // connecting | live | lost | refused | resting
export const hello = signal(null); // what the server said first
export const alive = signal(false); // whether a process works on the run
export const plan = signal({ tasks: [], phases: [], findings: [] }); // the roadmap as it is now
export const planned = signal(false); // whether the plan was asked for and an answer came, be it none
export const runs = signal([]); // all runs, newest first

export const run = signal(''); // the run that is shown; empty for the newest
export const selected = signal(''); // a task's id; empty for the whole run
export const attempt = signal(0); // an attempt's number; 0 for the last one
export const asking = signal(''); // the gate that is shown in the dialog
export const helping = signal(false);
export const editing = signal(''); // the task whose text is edited
export const confirming = signal(null); // {title, text, label, act(words), field}: what is asked before it is done
export const second = signal(0); // ticks once a second while the page is seen
export const announced = signal(''); // read out by screen readers
export const toast = signal('');
export const acts = signal(0); // how much was changed from here
export const stopping = signal(false); // whether it was asked to stop, from here: no event tells so
export const awaited = signal(null); // how many questions wait, as a page that nobody sees was told

const due = new Set();
let frame = 0;

/** Say that parts changed; whoever reads them is drawn anew with the next frame. */
export function touch(names) {
  for (const name of names) due.add(name);
  if (frame || !due.size) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    for (const name of due) changed[name].value += 1;
    due.clear();
  });
}

/** The state, for a component that is drawn anew whenever one of these parts changed. */
export function read(...parts) {
  for (const name of parts) changed[name].value;
  return state;
}

/** The name of the run that is shown, which may be an older one than the address asks for until that is there. */
export const shown = () => state.run?.run ?? run.value;

/** What the run that is shown was asked to do, as it is known now; null before anything is known. */
export function facts() {
  const name = read('head').run?.run ?? hello.value?.run;
  return runs.value.find(one => one.run === name) ?? hello.value?.facts ?? null;
}

export function startOver() {
  state = empty();
  stopping.value = false;
  touch(PARTS);
}

let offset = 0;

/** Keep the server's clock in seconds; the page's own may be wrong. */
export function setClock(now) {
  offset = now - Date.now() / 1000;
}

/** A time of this browser in milliseconds, by the server's clock. */
export const atServer = ms => ms / 1000 + offset;

/** The server's clock; where nothing is going on, that of the last event. */
export function now() {
  const moves = link.value === 'live' && alive.value && state.state !== 'finished';
  return moves ? atServer(Date.now()) : state.endedAt || state.now;
}

let toasting = 0;

const LEAST_MS = 4000;
const A_SIGN_MS = 70; // so that long words can be read to their end

/** Tell the person something for as long as it takes to read it. */
export function tell(text) {
  toast.value = text;
  clearTimeout(toasting);
  toasting = setTimeout(() => {
    toast.value = '';
  }, Math.max(LEAST_MS, text.length * A_SIGN_MS));
}
