// The whole page is its events, applied in order. No DOM, no clock: the same events give the same state.
//
// Containers (maps, arrays) stay; what is in them is replaced, never changed, so that whoever holds an old object
// can tell. `apply` gives the names of the parts that changed.

export const PARTS = ['head', 'roadmap', 'talk', 'code', 'terminal', 'figures'];

export function empty() {
  return {
    seq: 0,
    now: 0, // when the newest event was written, in seconds
    run: null, // the run_started event
    state: 'none', // none | running | paused | finishing | finished
    startedAt: 0,
    endedAt: 0,
    summary: null, // the run_finished event
    forecast: null,
    tasks: new Map(),
    order: [],
    gates: new Map(),
    talk: [],
    commands: new Map(),
    running: new Set(), // commands without an end
    lines: noLines(), // columns of equal length; a new `generation` when lines came in between
    cost: 0,
    tokens: 0,
    calls: 0,
    costs: [], // [at, usd so far], for the plot
    spentTokens: [], // [at, tokens so far]
    passes: [], // when each milepost was made
    ends: [], // {seq, at, task, status, cost}, for whoever was away
    models: new Map(), // name → {usd, tokens, calls}
    walls: [], // the budget_reached events that hold
    waits: new Map(), // task → when its service can be asked again
    workers: new Map(),
    unknown: new Set(), // kinds that a newer engine tells of
  };
}

/** Apply one event; gives the parts that changed. One that was applied already changes nothing. */
export function apply(state, seq, at, event) {
  if (seq <= state.seq) return [];
  state.seq = seq;
  state.now = Math.max(state.now, at);
  const handler = HANDLERS[event.event];
  if (!handler) {
    state.unknown.add(event.event);
    return [];
  }
  return handler(state, event, at, seq);
}

const COLUMNS = ['seq', 'kind', 'text', 'at', 'task', 'command'];
const noLines = () => ({ generation: 0, seq: [], kind: [], text: [], at: [], task: [], command: [] });

/** Put older printed lines to where they belong among those that are here; gives how many came. */
export function weave(state, rows) {
  const older = noLines();
  for (const [seq, at, event] of rows) printed(older, seq, at, event);
  const known = state.lines;
  const woven = { ...noLines(), generation: known.generation + 1 };
  let [left, right] = [0, 0];
  while (left < older.seq.length || right < known.seq.length) {
    const takesOlder = right >= known.seq.length || older.seq[left] < known.seq[right];
    const [from, place] = takesOlder ? [older, left++] : [known, right++];
    for (const column of COLUMNS) woven[column].push(from[column][place]);
  }
  state.lines = woven;
  return older.seq.length;
}

function taskOf(state, id, title = '') {
  if (!state.tasks.has(id)) {
    state.order.push(id);
    state.tasks.set(id, {
      id, title, status: 'waiting', reason: '', proposal: '', doing: '', stage: '', agent: '', attempts: [],
      startedAt: 0, endedAt: 0, ms: 0, cost: 0, tests: 0, checks: 0, commit: '', confidence: 0,
    });
  }
  return state.tasks.get(id);
}

function change(state, id, changes) {
  const task = taskOf(state, id);
  const now = typeof changes === 'function' ? changes(task) : changes;
  state.tasks.set(id, { ...task, ...now });
  return state.tasks.get(id);
}

const NEW_ATTEMPT = {
  agent: '', stage: '', startedAt: 0, endedAt: 0, ms: 0, verdict: '', reason: '', commit: '', cost: 0, tokens: 0,
  calls: 0, tools: 0, checks: [],
};

function changeAttempt(state, event, changes) {
  return change(state, event.task, task => {
    const known = task.attempts.find(one => one.number === event.attempt) ?? { ...NEW_ATTEMPT, number: event.attempt };
    const now = { ...known, ...(typeof changes === 'function' ? changes(known) : changes) };
    const others = task.attempts.filter(one => one.number !== event.attempt);
    return { attempts: [...others, now].sort((one, other) => one.number - other.number) };
  });
}

function say(state, seq, at, event, kind, more = {}) {
  state.talk.push({ seq, at, task: event.task ?? '', attempt: event.attempt ?? 0, kind, ...more });
}

function line(lines, seq, at, event, kind, text) {
  lines.seq.push(seq);
  lines.kind.push(kind);
  lines.text.push(text);
  lines.at.push(at);
  lines.task.push(event.task);
  lines.command.push(event.command);
}

function printed(lines, seq, at, event) {
  const errors = new Set(event.errors);
  event.lines.forEach((text, place) => line(lines, seq, at, event, errors.has(place) ? 'error' : 'output', text));
}

function spend(state, event, at, usd, tokens) {
  state.cost += usd;
  state.tokens += tokens;
  if (usd) state.costs.push([at, state.cost]);
  if (tokens) state.spentTokens.push([at, state.tokens]);
  change(state, event.task, task => ({ cost: task.cost + usd }));
  changeAttempt(state, event, attempt => ({ cost: attempt.cost + usd, tokens: attempt.tokens + tokens }));
}

/** Nobody is asked any more: what was asked about is over. */
function withdraw(state, isOver) {
  for (const [name, gate] of state.gates) {
    if (!gate.answer && isOver(gate)) state.gates.set(name, { ...gate, answer: 'withdrawn' });
  }
}

/** Mark the questions that were answered though the run did not take that up yet; `waiting` is of a place `last`. */
export function settle(state, { waiting, last }) {
  for (const [name, gate] of state.gates) {
    if (gate.answer || gate.seq > last || waiting.includes(name)) continue;
    state.gates.set(name, { ...gate, answer: 'answered' });
    change(state, gate.task, task => ({ status: task.status === 'asking' ? standing(task) : task.status }));
  }
  return ALL;
}

/** The commands that have no end will have none. */
function cutShort(state, at, seq) {
  for (const id of state.running) {
    const command = state.commands.get(id);
    state.commands.set(id, { ...command, cut: true, endedAt: at });
    line(state.lines, seq, at, { task: command.task, command: id }, 'failure', 'cut short');
  }
  state.running.clear();
}

const OPEN = new Set(['working', 'asking']);
const UNPROVEN = new Set(['held', 'unverified']);

/** How a task stands that is over: what has a milepost without having passed was accepted by its owner. */
const outcome = ({ verdict, commit }) => (commit && UNPROVEN.has(verdict) ? 'accepted' : verdict ?? 'waiting');

/** The kinds of lines that tell how a command ended. */
export const ENDS = new Set(['success', 'untroubled', 'failure']);

/** How a command ended: where failing is no trouble, `about` says so. One that did not end by itself is trouble. */
export function endOf({ exit, about }) {
  if (exit === 0) return 'success';
  return exit > 0 && about ? 'untroubled' : 'failure';
}

/** How a task stands while nobody is asked about it. */
const standing = task => (task.endedAt ? task.status : task.attempts.some(one => !one.verdict) ? 'working' : 'waiting');

/** How work stands that a person is asked about: held, or unverified. */
const heldAs = task => (task.attempts.at(-1)?.verdict === 'unverified' ? 'unverified' : 'held');

/** How a task stands after an answer. Held work of a run that is over lands with a yes, which is told then. */
function afterAnswer(task, { answer, text }, kind) {
  if (kind !== 'held') return { status: task.status === 'asking' ? standing(task) : task.status };
  if (!task.endedAt) return { status: standing(task) };
  if (answer === 'approve' || answer === 'accept') return {};
  return { status: 'failed', reason: text ? `${answer} by a person: ${text}` : `${answer} by a person` };
}

/** The attempt that a milepost came of has the verdict that it landed with. */
function settleLast(state, { task: id, verdict }) {
  const last = taskOf(state, id).attempts.findLast(one => one.verdict);
  if (last) changeAttempt(state, { task: id, attempt: last.number }, { verdict });
}

const ALL = PARTS.filter(name => name !== 'terminal');

const HANDLERS = {
  run_started(state, event, at, seq) {
    state.run = event;
    state.state = 'running';
    state.startedAt = at;
    for (const id of event.tasks) taskOf(state, id);
    say(state, seq, at, event, 'run', { text: `run ${event.run} began on ${event.branch}` });
    return ALL;
  },
  run_resumed(state, event, at, seq) {
    state.state = state.state === 'finished' ? 'finished' : 'running';
    state.walls = [];
    cutShort(state, at, seq);
    say(state, seq, at, event, 'run', { text: event.last_call ? `resumed: ${event.last_call}` : 'resumed' });
    return [...ALL, 'terminal'];
  },
  stage_started(state, event, at, seq) {
    const doing = event.stage === 'act' ? event.agent : '';
    taskOf(state, event.task);
    state.waits.delete(event.task);
    change(state, event.task, task => ({
      title: event.title, status: 'working', stage: event.stage, doing, agent: event.agent || task.agent,
      startedAt: task.startedAt || at, endedAt: 0, reason: '',
    }));
    changeAttempt(state, event, attempt => ({
      stage: event.stage, agent: event.agent || attempt.agent, startedAt: attempt.startedAt || at,
    }));
    say(state, seq, at, event, 'stage', { stage: event.stage, agent: event.agent });
    return ALL;
  },
  agent_said(state, event, at, seq) {
    say(state, seq, at, event, 'said', { text: event.text });
    return ['talk'];
  },
  agent_signalled(state, event, at, seq) {
    say(state, seq, at, event, 'signal', { signal: event.kind, text: event.text });
    return ['talk'];
  },
  agent_chosen(state, event, at, seq) {
    const text = event.agent ? `${event.agent}: ${event.reason}` : event.reason;
    say(state, seq, at, event, 'chosen', { text, considered: event.considered });
    return ['talk'];
  },
  lessons_told(state, event, at, seq) {
    say(state, seq, at, event, 'lessons', { lines: event.lines, held: event.held_out.length });
    return ['talk'];
  },
  model_called(state, event, at, seq) {
    const tokens = event.input_tokens + event.output_tokens;
    state.calls += 1;
    state.walls = state.walls.filter(wall => wall.scope === 'task' && wall.task !== event.task);
    spend(state, event, at, event.cost_usd, tokens);
    changeAttempt(state, event, attempt => ({ calls: attempt.calls + 1 }));
    const known = state.models.get(event.model) ?? { usd: 0, tokens: 0, calls: 0 };
    state.models.set(event.model, {
      usd: known.usd + event.cost_usd, tokens: known.tokens + tokens, calls: known.calls + 1,
    });
    return ['head', 'roadmap', 'code', 'figures'];
  },
  tool_used(state, event, at, seq) {
    change(state, event.task, { doing: event.summary || event.tool });
    changeAttempt(state, event, attempt => ({ tools: attempt.tools + 1 }));
    const { tool, summary, failed, printed: text, duration_ms: ms } = event;
    say(state, seq, at, event, 'tool', { tool, summary, failed, text, ms });
    return ['roadmap', 'talk'];
  },
  command_started(state, event, at, seq) {
    state.commands.set(event.command, {
      id: event.command, argv: event.argv, by: event.by, task: event.task, attempt: event.attempt, startedAt: at,
      endedAt: 0, exit: null, ending: '', ms: 0, cut: false, unshown: 0, about: event.about ?? '',
    });
    state.running.add(event.command);
    change(state, event.task, { doing: event.argv });
    line(state.lines, seq, at, event, 'command', event.argv);
    say(state, seq, at, event, 'command', { command: event.command, argv: event.argv, by: event.by });
    return ['roadmap', 'talk', 'terminal'];
  },
  command_printed(state, event, at, seq) {
    printed(state.lines, seq, at, event);
    return ['terminal'];
  },
  command_finished(state, event, at, seq) {
    const known = state.commands.get(event.command);
    if (known) {
      state.commands.set(event.command, {
        ...known, endedAt: at, exit: event.exit_code, ending: event.ending, ms: event.duration_ms,
        unshown: event.unshown,
      });
    }
    state.running.delete(event.command);
    const about = known?.about;
    const kind = endOf({ exit: event.exit_code, about });
    line(state.lines, seq, at, event, kind, about ? `${event.ending} · ${about}` : event.ending);
    return ['talk', 'terminal'];
  },
  check_finished(state, event, at, seq) {
    const { name, outcome, summary, duration_ms: ms } = event;
    changeAttempt(state, event, attempt => ({
      checks: [...attempt.checks.filter(one => one.name !== name), { seq, name, outcome, summary, ms }],
    }));
    change(state, event.task, { doing: `${name}: ${summary}` });
    return ['roadmap', 'talk', 'code'];
  },
  attempt_finished(state, event, at, seq) {
    const known = taskOf(state, event.task).attempts.find(one => one.number === event.attempt);
    const untold = Math.max(0, event.cost_usd - (known?.cost ?? 0));
    if (untold > 1e-9) spend(state, event, at, untold, 0);
    const { agent, verdict, reason, commit } = event;
    changeAttempt(state, event, { agent, verdict, reason, commit, ms: event.duration_ms, endedAt: at });
    say(state, seq, at, event, 'verdict', { verdict, text: reason });
    return ALL;
  },
  milepost_made(state, event, at, seq) {
    change(state, event.task, { commit: event.commit });
    changeAttempt(state, event, { milepost: event.commit });
    state.passes.push(at);
    say(state, seq, at, event, 'milepost', { commit: event.commit });
    return ALL;
  },
  task_finished(state, event, at, seq) {
    const status = outcome(event);
    state.waits.delete(event.task);
    const { title, reason, proposal, checks, tests, confidence } = event;
    change(state, event.task, task => ({
      title, reason, proposal, checks, tests, confidence, status, doing: '', stage: '',
      agent: event.agent || task.agent, commit: event.verdict ? event.commit ?? task.commit : '',
      endedAt: at, ms: event.duration_ms,
      cost: Math.max(task.cost, event.cost_usd),
    }));
    withdraw(state, gate => gate.task === event.task && !(gate.kind === 'held' && UNPROVEN.has(status)));
    if (event.commit) settleLast(state, event);
    state.ends.push({ seq, at, task: event.task, status, cost: state.cost });
    return ALL;
  },
  gate_opened(state, event, at, seq) {
    state.gates.set(event.gate, { ...event, seq, at, answer: '', text: '' });
    change(state, event.task, task => ({ status: event.kind === 'held' ? heldAs(task) : 'asking' }));
    say(state, seq, at, event, 'gate', { gate: event.gate });
    return ALL;
  },
  gate_answered(state, event, at, seq) {
    const gate = state.gates.get(event.gate);
    if (gate) state.gates.set(event.gate, { ...gate, answer: event.answer, text: event.text, answeredAt: at });
    change(state, event.task, task => afterAnswer(task, event, gate?.kind));
    say(state, seq, at, event, 'answer', { gate: event.gate, answer: event.answer, text: event.text });
    return ALL;
  },
  budget_reached(state, event, at, seq) {
    state.walls.push(event);
    say(state, seq, at, event, 'budget', { text: event.message });
    return ['head', 'talk', 'figures'];
  },
  service_waits(state, event, at, seq) {
    const until = new Date(event.until * 1000).toLocaleTimeString();
    state.waits.set(event.task, event.until);
    say(state, seq, at, event, 'said', { text: `waits for its service until ${until}: ${event.what}` });
    return ['head', 'talk'];
  },
  steered(state, event, at, seq) {
    if (event.what.startsWith('paused')) state.state = 'paused';
    else if (event.what.startsWith('stops when')) state.state = 'finishing';
    else if (event.what === 'goes on') state.state = 'running';
    say(state, seq, at, event, 'steered', { text: event.what });
    return ['head', 'roadmap', 'talk'];
  },
  forecast_made(state, event) {
    state.forecast = event;
    return ['head', 'figures'];
  },
  memory_waits(state, event, at, seq) {
    say(state, seq, at, event, 'run', { text: `${event.rows} rows of the memory are not yet synced` });
    return ['talk'];
  },
  worker_changed(state, event, at, seq) {
    state.workers.set(event.worker, event.what);
    say(state, seq, at, event, 'run', { text: `worker ${event.worker} ${event.what}` });
    return ['talk'];
  },
  run_stopping(state, event, at, seq) {
    say(state, seq, at, event, 'run', { text: event.at_once ? 'stopping now' : 'stopping after the steps in flight' });
    return ['head', 'talk'];
  },
  events_taken_back(state, event) {
    const gone = new Set(event.seqs);
    state.talk = state.talk.filter(one => !gone.has(one.seq));
    if (event.task) {
      changeAttempt(state, event, attempt => ({ checks: attempt.checks.filter(one => !gone.has(one.seq)) }));
    }
    return ['talk', 'code'];
  },
  run_finished(state, event, at, seq) {
    state.state = 'finished';
    state.summary = event;
    state.endedAt = at;
    state.cost = Math.max(state.cost, event.cost_usd);
    cutShort(state, at, seq);
    withdraw(state, gate => gate.kind !== 'held');
    for (const { id, title, verdict, reason, proposal, commit } of event.tasks) {
      change(state, id, task => ({
        title, reason, proposal, status: outcome({ verdict, commit }), doing: '', stage: '',
        commit: commit ?? task.commit,
      }));
    }
    for (const id of state.order) {
      if (!OPEN.has(state.tasks.get(id).status)) continue;
      change(state, id, { status: 'waiting', reason: 'not done', doing: '', stage: '' });
    }
    const isAhead = event.tasks.some(task => task.commit); // else its branch is gone
    const made = isAhead ? `${event.branch} is at ${event.head.slice(0, 7)}` : 'no milepost was made';
    say(state, seq, at, event, 'run', { text: `finished · ${made}` });
    return [...ALL, 'terminal'];
  },
};

export const KINDS = Object.keys(HANDLERS);

/** What a person wants to know in five seconds: tasks by how they stand, how many attempts were refused, gates. */
export function glance(state) {
  const by = { passed: [], accepted: [], held: [], failed: [], unverified: [], working: [], asking: [], waiting: [] };
  for (const id of state.order) by[state.tasks.get(id).status].push(state.tasks.get(id));
  const attempts = [...state.tasks.values()].flatMap(task => task.attempts);
  const refusals = attempts.filter(({ verdict }) => verdict === 'failed' || verdict === 'unverified').length;
  return { ...by, refusals, gates: [...state.gates.values()].filter(gate => !gate.answer) };
}
