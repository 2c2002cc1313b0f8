// The terminal: what commands printed, line by line, and how they ended.
import { computed, effect, html, signal, useRef } from './libraries.js';
import { many, span } from './format.js';
import { Icon } from './icons.js';
import { Pieces } from './inline.js';
import { Panel, remember, remembered } from './layout.js';
import { Rows, Screen } from './screen.js';
import { endOf } from './state.js';
import { alive, hello, link, now, read, second, selected, state, tell } from './store.js';
import { visible } from './text.js';

const GROUPS = { command: 'commands', output: 'output', error: 'errors', ends: 'exits' };

export const stamps = signal(remembered('stamps', false));
const groups = signal({ command: true, output: true, error: true, ends: true });
const query = signal('');
const onlyMatches = signal(false);
const narrowed = signal(true); // to the selected task
const cleared = signal(new Map()); // run → the place in the stream up to which its lines are hidden
const runShown = () => [hello.value?.epoch, hello.value?.run].join();
const clearedAt = computed(() => cleared.value.get(runShown()) ?? 0);
const clearUpTo = seq => {
  cleared.value = new Map(cleared.value).set(runShown(), seq);
};

effect(() => remember('stamps', stamps.value));

const rows = new Rows(
  computed(() => ({
    task: narrowed.value ? selected.value : '',
    groups: groups.value,
    words: query.value.toLowerCase(),
    onlyMatches: onlyMatches.value,
    from: clearedAt.value,
  })),
  stamps,
);
export const { follow } = rows;
export const terminal = { focusSearch() {}, jump: by => rows.jump(by) };

const toggle = one => () => {
  one.value = !one.value;
};

async function copy() {
  try {
    await navigator.clipboard.writeText(rows.text());
    tell(`Copied ${many(rows.count.value, 'line')}.`);
  } catch {
    tell('The browser does not let this page copy: select the lines instead.');
  }
}

function clear() {
  clearUpTo(state.seq);
  rows.hit.value = -1;
  tell('Cleared from view. Nothing is deleted.');
}

function Tool({ icon, label, shortcut, pressed, onClick }) {
  const title = shortcut ? `${label} (${shortcut})` : label;
  return html`<button class="icon" aria-pressed=${pressed} aria-label=${label} title=${title} onClick=${onClick}>
    <${Icon} name=${icon} />
  </button>`;
}

function Search() {
  const input = useRef();
  terminal.focusSearch = () => {
    input.current.focus();
    input.current.select();
  };
  const press = event => {
    if (event.key === 'Enter') rows.jump(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') {
      query.value = '';
      rows.hit.value = -1;
      event.target.blur();
    } else return;
    event.preventDefault();
  };
  const type = event => {
    query.value = event.target.value;
    rows.hit.value = -1;
  };
  return html`<div class="search">
    <${Icon} name="search" />
    <label class="hidden" for="find">Search the terminal</label>
    <input
      id="find" ref=${input} value=${query.value} placeholder="search  /" autocomplete="off" spellcheck=${false}
      onInput=${type} onKeyDown=${press}
    />
    ${query.value && html`<${Found} />`}
  </div>`;
}

function Found() {
  rows.hit.value;
  const nth = rows.nth;
  const older = hello.value?.older;
  const count = rows.matches.value.toLocaleString('en');
  return html`<span class="found" role="status">${nth ? `${nth} of ${count}` : count}</span>
    <${Tool} icon="before" label="Previous match" onClick=${() => rows.jump(-1)} />
    <${Tool} icon="after" label="Next match" shortcut="n" onClick=${() => rows.jump(1)} />
    <${Tool} icon="list" label="Only lines that match" pressed=${onlyMatches.value} onClick=${toggle(onlyMatches)} />
    ${older && html`<button class="chip" onClick=${() => rows.fetchOlder()}>search older lines, too</button>`}`;
}

const DOTS = { success: 'good', untroubled: 'calm', failure: 'bad' };

function Ended({ command }) {
  const end = endOf(command);
  const ended = command.cut ? 'cut short' : `${command.ending} · ${span(command.ms / 1000)}`;
  const words = command.about ? `${ended} · ${command.about}` : ended;
  return html`<span class="command">
    <i class=${`dot ${DOTS[end]}`} aria-hidden="true"></i>
    <code><${Pieces} text=${command.argv} /></code>
    <span class=${end === 'failure' ? 'bad' : 'soft'}>${words}</span>
  </span>`;
}

function Running({ command }) {
  const seen = link.value === 'live' && alive.value;
  return html`<span class="command">
    <span class="mark m-working" aria-hidden="true"></span>
    <span class="task-id"><${Pieces} text=${command.task} /></span>
    <code><${Pieces} text=${command.argv} /></code>
    <span class="soft">${seen ? span(now() - command.startedAt) : 'running when last seen'}</span>
  </span>`;
}

function Commands() {
  read('terminal');
  second.value;
  const task = narrowed.value ? selected.value : '';
  const here = command => !task || command.task === task;
  const running = [...state.running].map(id => state.commands.get(id)).filter(here);
  const last = [...state.commands.values()].filter(command => command.endedAt && here(command)).at(-1);
  if (running.length) {
    const more = running.length > 2 ? html`<span class="soft">and ${running.length - 2} more</span>` : '';
    const first = running.slice(0, 2).map(one => html`<${Running} command=${one} />`);
    return html`<div class="commands">${first}${more}</div>`;
  }
  return html`<div class="commands">
    ${last ? html`<${Ended} command=${last} />` : html`<span class="soft">no command yet</span>`}
  </div>`;
}

function Filters() {
  const flip = name => () => {
    groups.value = { ...groups.value, [name]: !groups.value[name] };
  };
  return html`<div class="filters" role="group" aria-label="Kinds of lines">
    ${selected.value && html`<button class="chip" aria-pressed=${narrowed.value} onClick=${toggle(narrowed)}>
      only <${Pieces} text=${selected.value} />
    </button>`}
    ${Object.entries(GROUPS).map(([name, label]) => html`<button
      class="chip" aria-pressed=${groups.value[name]} onClick=${flip(name)}
    >${label}</button>`)}
    ${clearedAt.value > 0 && html`<button
      class="chip"
      onClick=${() => clearUpTo(0)}
    >show cleared</button>`}
  </div>`;
}

/** Why nothing is shown: an empty screen must not look like lost lines. */
function whyEmpty() {
  if (state.lines.text.length === 0) return state.run ? 'No command was run yet.' : 'Nothing was run yet.';
  if (clearedAt.value > 0 && clearedAt.value >= state.lines.seq.at(-1)) return 'Cleared from view; nothing new since.';
  if (query.value && onlyMatches.value) return 'No line matches the search.';
  const task = narrowed.value ? selected.value : '';
  if (task && !state.lines.task.includes(task)) return `${visible(task)} has run no command yet.`;
  return 'No line is of the kinds chosen above.';
}

function Body() {
  read('terminal', 'head');
  const unread = rows.unread.value;
  return html`<div class="screen-wrap">
    <${Screen} rows=${rows} />
    ${rows.count.value === 0 && html`<p class="empty over">${whyEmpty()}</p>`}
    ${hello.value?.older && !follow.value && html`<button class="pill above" onClick=${() => rows.fetchOlder()}>
      Older lines
    </button>`}
    ${!follow.value && unread > 0 && html`<button
      class="pill"
      onClick=${() => {
        follow.value = true;
      }}
    ><${Icon} name="down" />${many(unread, 'new line')}</button>`}
  </div>`;
}

export function Terminal() {
  read('terminal');
  const tools = html`<${Search} />
    <${Tool} icon="clock" label="Times" shortcut="t" pressed=${stamps.value} onClick=${toggle(stamps)} />
    <${Tool} icon="down" label="Follow the end" shortcut="f" pressed=${follow.value} onClick=${toggle(follow)} />
    <${Tool} icon="copy" label="Copy what is shown" onClick=${copy} />
    <${Tool} icon="clear" label="Clear the view" onClick=${clear} />`;
  return html`<${Panel} name="terminal" title="Terminal" tools=${tools}>
    <div class="terminal-bar"><${Commands} /><${Filters} /></div>
    <${Body} />
  <//>`;
}
