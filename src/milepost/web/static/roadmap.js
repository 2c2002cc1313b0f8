// The roadmap: every task with how it stands, and one line of why.
import { computed, effect, html, signal, useEffect, useRef } from './libraries.js';
import { ticking, withoutId } from './format.js';
import { Mark } from './icons.js';
import { Inline } from './inline.js';
import { Panel, remember, remembered } from './layout.js';
import { pick } from './route.js';
import { glance } from './state.js';
import { changed, now, plan, planned, read, second, selected, state } from './store.js';
import { TaskMenu } from './task_menu.js';
import { grouped, rows } from './tasks.js';

const FILTERS = { all: 'all', open: 'open', look: 'to look at' };
const GROUPS = { phase: 'by phase', wave: 'by wave' };
const LONGEST_ID = 9;
const MOST_FINDINGS = 5;

const filter = signal('all');
const by = signal(remembered('grouping', 'phase') === 'wave' ? 'wave' : 'phase');
effect(() => remember('grouping', by.value));

const groups = computed(() => {
  changed.roadmap.value;
  if (!planned.value) return []; // else all would move to other places, under who reads them
  return grouped(rows(state, plan.value), { filter: filter.value, by: by.value });
});

/** The ids of the tasks, as they are shown. */
export const inOrder = () => groups.value.flatMap(group => group.rows.map(row => row.id));

export function Roadmap() {
  const ref = useRef();
  const shown = groups.value;
  const ids = inOrder();
  const stop = ids.includes(selected.value) ? selected.value : ids[0]; // the one that Tab goes to
  useEffect(() => {
    ref.current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [selected.value, ids.length, shown.length]);
  const width = Math.min(LONGEST_ID, Math.max(3, ...ids.map(id => id.length)));
  return html`<${Panel} name="roadmap" title="Roadmap" tools=${html`<${Filters} />`}>
    <${Track} />
    <div class="scroll tasks" ref=${ref} style=${{ '--id': `${width}ch` }} onKeyDown=${walk}>
      ${shown.map(group => html`<section key=${group.name} class="group">
        <h3><${Inline} text=${group.name} /><span class="soft">${`${group.done} of ${group.all}`}</span></h3>
        <ul>${group.rows.map(row => drawn({ ...row, on: row.id === selected.value, stop: row.id === stop }))}</ul>
      </section>`)}
      ${!ids.length && html`<p class="empty">${nothing()}</p>`}
      <${Findings} />
    </div>
  <//>`;
}

function nothing() {
  if (!planned.value) return 'Reading the roadmap …';
  return plan.value.tasks.length || state.order.length ? 'No task is in that state.' : 'No tasks yet.';
}

/** Which tasks are shown, and below what. */
const Filters = () => html`<${Choice} id="tasks-shown" label="Show" of=${filter} options=${FILTERS} />
  <${Choice} id="tasks-by" label="Group" of=${by} options=${GROUPS} />`;

const Choice = ({ id, label, of, options }) => html`<label class="hidden" for=${id}>${label}</label>
  <select
    id=${id}
    value=${of.value}
    onChange=${event => {
      of.value = event.target.value;
    }}
  >
    ${Object.entries(options).map(([value, words]) => html`<option value=${value}>${words}</option>`)}
  </select>`;

const KINDS = ['passed', 'accepted', 'held', 'failed', 'unverified', 'asking', 'working', 'waiting'];

/** How far the run is, as one line. */
function Track() {
  const all = glance(read('roadmap'));
  const kinds = KINDS.filter(kind => all[kind].length);
  const words = kinds.map(kind => `${all[kind].length} ${kind}`).join(', ');
  if (!kinds.length) return null;
  return html`<div class="task-track" role="img" aria-label=${words}>
    ${kinds.map(kind => html`<i key=${kind} class=${`k-${kind}`} style=${{ flexGrow: all[kind].length }} />`)}
  </div>`;
}

const before = new Map(); // rows as they were drawn, by id

/** A row; the very one that was drawn before unless it changed, which is not looked at again: there may be hundreds. */
function drawn(row) {
  const known = before.get(row.id);
  if (known && Object.keys(row).every(name => row[name] === known.row[name])) return known.node;
  const node = html`<${Row} key=${row.id} ...${row} />`;
  before.set(row.id, { row, node });
  return node;
}

function Row({ id, status, task, title, why, on, stop }) {
  return html`<li class="task-row">
    <button
      class=${`task t-${status}`}
      data-task=${id}
      data-first=${stop ? '' : null}
      aria-current=${on ? 'true' : null}
      tabindex=${stop ? 0 : -1}
      onClick=${() => pick(on ? '' : id)}
    >
      <${Mark} status=${status} />
      <span class="task-id">${id}</span>
      <span class="task-title"><${Inline} text=${title} /></span>
      <span class="task-why">
        ${status === 'working' ? html`<${Doing} task=${task} />` : html`<${Inline} text=${why} />`}
      </span>
    </button>
    ${on && html`<${TaskMenu} id=${id} status=${status} />`}
  </li>`;
}

/** What is being done, and for how long. */
function Doing({ task }) {
  second.value;
  const attempt = task.attempts.at(-1);
  const again = attempt?.number > 1 ? `attempt ${attempt.number} · ` : '';
  const words = [task.stage, task.doing].filter(Boolean).join(' · ');
  return html`<span class="task-doing"><${Inline} text=${words} /></span>
    <span class="task-for">${again}${ticking(now() - (attempt?.startedAt || task.startedAt))}</span>`;
}

function walk(event) {
  const all = [...event.currentTarget.querySelectorAll('.task')];
  const at = all.indexOf(document.activeElement);
  if (at < 0) return;
  const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
  const next = all[places[event.key]];
  if (!next) return;
  event.preventDefault();
  next.focus();
  pick(next.dataset.task);
}

function Where({ line, task }) {
  if (task) return html`<button class="plain" onClick=${() => pick(task)}>${task}</button>`;
  return line ? `line ${line}` : 'plan';
}

/** What the plan says is worth a look. */
function Findings() {
  const { findings } = plan.value;
  if (!findings.length) return null;
  const lines = findings.map(one => html`<li>
    <b><${Where} ...${one} /></b> <${Inline} text=${withoutId(one.text, one.task)} />
  </li>`);
  return html`<section class="findings">
    <h3>To look at in the plan</h3>
    <ul>${lines.slice(0, MOST_FINDINGS)}</ul>
    ${lines.length > MOST_FINDINGS && html`<details>
      <summary>${lines.length - MOST_FINDINGS} more</summary><ul>${lines.slice(MOST_FINDINGS)}</ul>
    </details>`}
  </section>`;
}
