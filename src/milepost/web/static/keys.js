// Single keys, while nobody types. They can be turned off.
import { effect, signal } from './libraries.js';
import { PANELS, bring, go, nextTheme, remember, remembered, whole } from './layout.js';
import { pick } from './route.js';
import { inOrder } from './roadmap.js';
import { glance } from './state.js';
import { asking, attempt, helping, selected, state } from './store.js';
import { follow, stamps, terminal } from './terminal.js';

export const keysOn = signal(remembered('keys', true) !== false);
effect(() => remember('keys', keysOn.value));

const clamp = (place, count) => Math.min(count - 1, Math.max(0, place));

/** Select the task that many places further in the roadmap as it is shown. */
function move(by) {
  const tasks = inOrder();
  const at = tasks.indexOf(selected.value);
  const from = at < 0 && by < 0 ? tasks.length : at;
  const next = tasks[clamp(from + by, tasks.length)];
  if (next) pick(next);
}

function turn(by) {
  const numbers = state.tasks.get(selected.value)?.attempts.map(one => one.number) ?? [];
  if (!numbers.length) return;
  const at = attempt.value ? numbers.indexOf(attempt.value) : numbers.length - 1;
  pick(selected.value, numbers[clamp(at + by, numbers.length)]);
}

/** The oldest gate that nobody answered. */
function whatWaits() {
  const [gate] = glance(state).gates;
  if (gate) asking.value = gate.gate;
}

/** At once: what is typed next goes into the box. */
function search() {
  bring('terminal');
  terminal.focusSearch();
}

const openMenu = () => document.querySelector('.task-row .icon')?.click();

function fill() {
  const here = document.activeElement?.closest('.panel')?.id.slice('panel-'.length);
  whole.value = whole.value ? '' : here ?? 'code';
}

function widen() {
  if (whole.value) whole.value = '';
  else pick();
}

const flip = one => () => {
  one.value = !one.value;
};

export const KEYS = [
  { names: ['1', '2', '3', '4', '5'], what: 'go to a panel', act: key => go(PANELS[Number(key) - 1]) },
  { names: ['j', 'k'], what: 'next task, previous task', act: key => move(key === 'j' ? 1 : -1) },
  { names: [']', '['], what: 'next attempt, previous attempt', act: key => turn(key === ']' ? 1 : -1) },
  { names: ['.'], what: 'actions for the task', act: openMenu },
  { names: ['w'], what: 'what waits for you', act: whatWaits },
  { names: ['Esc'], what: 'back to the whole run', act: widen },
  { names: ['/'], what: 'search the terminal', act: search },
  { names: ['n', 'N'], what: 'next match, previous match', act: key => terminal.jump(key === 'n' ? 1 : -1) },
  { names: ['t'], what: 'times in the terminal', act: flip(stamps) },
  { names: ['f'], what: 'follow the end of the terminal', act: flip(follow) },
  { names: ['m'], what: 'fill the page with a panel', act: fill },
  { names: ['d'], what: 'theme: dark, light, system', act: nextTheme },
  { names: ['?'], what: 'these keys', act: flip(helping) },
];
const ACTS = new Map(KEYS.flatMap(({ names, act }) => names.map(name => [name === 'Esc' ? 'Escape' : name, act])));

addEventListener('keydown', event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector('dialog[open], [popover]:popover-open')) return;
  if (event.target.closest?.('input, textarea, select, [contenteditable]')) return;
  if (!keysOn.value && event.key !== 'Escape') return;
  const act = ACTS.get(event.key);
  if (!act) return;
  event.preventDefault();
  act(event.key);
});
