// The tasks of the plan and of the run as one list: how each stands, and why in one line. Pure.
import { money, many, span } from './format.js';

const OPEN = new Set(['held', 'failed', 'unverified', 'asking', 'working', 'waiting']);
const TO_LOOK_AT = new Set(['held', 'failed', 'unverified', 'asking']);
const LANDED = new Set(['passed', 'accepted']);
const FILTERS = { all: () => true, open: row => OPEN.has(row.status), look: row => TO_LOOK_AT.has(row.status) };
const ELSEWHERE = 'Other tasks';

/** One row a task: those of the plan in its order, then what only the run knows, such as parts of a task. */
export function rows(state, plan) {
  const planned = new Map(plan.tasks.map(task => [task.id, task]));
  const ids = [...planned.keys(), ...state.order.filter(id => !planned.has(id))];
  return ids.map(id => row(state, planned, id));
}

function row(state, planned, id) {
  const task = state.tasks.get(id);
  const entry = planned.get(id);
  const status = task && !(task.status === 'waiting' && entry?.done) ? task.status : entry?.done ? 'done' : 'waiting';
  return {
    id, status, task, title: task?.title || entry?.title || '', phase: entry?.phase || '', wave: entry?.wave ?? null,
    why: WHY[status](state, task, entry, planned),
  };
}

/** The time of its attempts, each with its checks: the sum of what is said of each. */
const inAll = ({ ms, attempts }) => span(ms / 1000) + (attempts.length > 1 ? ` in ${attempts.length} attempts` : '');

const WHY = {
  passed: (state, task) => [
    task.tests ? many(task.tests, 'test') : many(task.checks, 'check'),
    task.ms ? inAll(task) : '', task.cost ? money(task.cost) : '',
    task.commit.slice(0, 7),
  ].filter(Boolean).join(' · '),
  accepted: (state, task) => [task.reason, task.commit.slice(0, 7)].filter(Boolean).join(' · '),
  held: (state, task, entry) => `held: ${refused(state, task, entry)}`,
  failed: refused,
  unverified: refused,
  asking: () => 'waits for you',
  working: () => '', // told with a clock
  done: () => 'done before, not by this run',
  waiting: waitsFor,
};

function refused(state, task, entry) {
  return entry?.done ? `${task.reason} · done since, by another run` : task.reason;
}

/** What a task waits for. */
function waitsFor(state, task, entry, planned) {
  if (task?.reason) return task.reason;
  if (state.run && !task) return 'not in this run';
  if (state.state === 'finished') return 'not started';
  const open = (entry?.after ?? []).filter(id => !LANDED.has(state.tasks.get(id)?.status) && !planned.get(id)?.done);
  return open.length ? `waits for ${open.join(', ')}` : 'next';
}

/** The rows that a filter lets through, below the names of their phases or waves. */
export function grouped(all, { filter, by }) {
  const groups = new Map();
  for (const one of all) {
    const name = by === 'wave' ? (one.wave === null ? ELSEWHERE : `Wave ${one.wave}`) : one.phase || ELSEWHERE;
    if (!groups.has(name)) groups.set(name, { name, wave: one.wave ?? Infinity, rows: [], done: 0, all: 0 });
    const group = groups.get(name);
    group.all += 1;
    if (LANDED.has(one.status) || one.status === 'done') group.done += 1;
    if (FILTERS[filter](one)) group.rows.push(one);
  }
  if (groups.size === 1 && groups.has(ELSEWHERE)) groups.get(ELSEWHERE).name = 'Tasks';
  const full = [...groups.values()].filter(group => group.rows.length);
  return by === 'wave' ? full.sort((one, other) => one.wave - other.wave) : full;
}
