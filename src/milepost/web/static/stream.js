// One EventSource a visible page. It goes on after the last event that it applied: nothing is lost, nothing doubled.
import { ask } from './ask.js';
import { inOneLine, withoutId } from './format.js';
import {
  alive, announced, awaited, hello, link, plan, planned, run, runs, setClock, startOver, state, stopping, tell, touch,
} from './store.js';
import { apply, settle, weave } from './state.js';

const RETRY_MS = 1000;
const RESTING_MS = 20_000;
const REPLANS = new Set(['run_started', 'run_resumed', 'steered', 'milepost_made', 'run_finished']);
const WORTH_SAYING = {
  task_finished: event => event.verdict && `${event.task} ${event.verdict}`,
  gate_opened: ({ task, question }) => `${task} waits for you: ${withoutId(inOneLine(question), task)}`,
  run_finished: () => 'the run is finished',
};

let source = null;
let epoch = '';
let retrying = 0;
let resting = 0;
let caughtUp = false;

function connect() {
  source?.close();
  clearTimeout(retrying);
  const query = new URLSearchParams({ after: `${epoch}:${state.seq}`, ...(run.value ? { run: run.value } : {}) });
  source = new EventSource(`/api/stream?${query}`);
  source.addEventListener('hello', event => greet(JSON.parse(event.data)));
  source.addEventListener('alive', event => {
    const said = JSON.parse(event.data);
    setClock(said.now);
    alive.value = said.alive;
    stopping.value = false;
    replanSoon();
  });
  source.addEventListener('newer', event => follow(JSON.parse(event.data).run));
  source.onmessage = event => take(JSON.parse(event.data));
  source.onerror = lose;
}

/** Show another run. */
export function show(name) {
  run.value = name;
  epoch = '';
  startOver();
  begin();
}

/** A newer run began: shown at once to who looks at the newest, told to who chose another. */
function follow(name) {
  if (run.value) {
    tell(`Run ${name} began.`);
    replanSoon();
  } else {
    show('');
  }
}

function greet(said) {
  if (said.fresh || said.epoch !== epoch) startOver();
  caughtUp = !said.fresh;
  epoch = said.epoch;
  setClock(said.now);
  alive.value = said.alive;
  hello.value = said.fresh ? said : { ...said, older: hello.value?.older ?? said.older };
  link.value = 'live';
  replan();
}

function take({ after, events, caught_up: isLast }) {
  if (after !== state.seq && state.seq !== 0) {
    epoch = '';
    connect();
    return;
  }
  for (const [seq, at, event] of events) {
    touch(apply(state, seq, at, event));
    if (caughtUp) announce(event);
    if (REPLANS.has(event.event)) replanSoon();
    if (goesOn(event)) stopping.value = false;
  }
  if (isLast !== false) caughtUp = true;
}

const goesOn = ({ event, what }) => event === 'run_resumed' || (event === 'steered' && what === 'goes on');

function announce(event) {
  const words = WORTH_SAYING[event.event]?.(event);
  if (words) announced.value = words;
}

let replanning = 0;

function replanSoon() {
  clearTimeout(replanning);
  replanning = setTimeout(replan, 200);
}

/** Fetch the plan, the runs and the questions as they are now. */
export async function replan() {
  const asked = state;
  const [made, known, gates] = await Promise.all([ask('/api/plan'), ask('/api/runs'), ask('/api/gates')]);
  if (state !== asked) return; // another run is shown by now
  if (gates) touch(settle(state, gates));
  if (made) plan.value = made;
  planned.value = true;
  if (known) runs.value = known.runs;
  touch(['roadmap']);
}

/** Fetch lines that are older than all that are here; gives how many came. */
export async function older() {
  const asked = state;
  const first = state.lines.kind.findIndex(kind => kind === 'output' || kind === 'error');
  const answer = await ask('/api/lines', { before: first < 0 ? state.seq + 1 : state.lines.seq[first] });
  if (!answer || state !== asked) return 0;
  hello.value = { ...hello.value, older: answer.older };
  const came = weave(state, answer.events);
  touch(['terminal']);
  return came;
}

/** A browser asks again by itself when a connection breaks; when it was refused, it has to be told to. */
async function lose() {
  link.value = 'lost';
  if (source?.readyState !== EventSource.CLOSED) return;
  try {
    const { status } = await fetch('/api/summary');
    if (status === 401) {
      link.value = 'refused';
      return;
    }
  } catch {
    // Nobody is there: asked again below.
  }
  retrying = setTimeout(connect, RETRY_MS);
}

/** A page that nobody sees gives its connection back, of which a browser has six a host, and asks now and then. */
function rest() {
  source?.close();
  source = null;
  clearTimeout(retrying);
  link.value = 'resting';
  resting = setInterval(glimpse, RESTING_MS);
}

async function glimpse() {
  const told = await ask('/api/summary');
  if (told && document.hidden) awaited.value = told.waiting;
}

/** Be told what happens, or rest: a page may be opened in a tab that nobody sees yet. */
export function begin() {
  clearInterval(resting);
  awaited.value = null;
  if (document.hidden) rest();
  else connect();
}

document.addEventListener('visibilitychange', begin);
