// The rows of the conversation. What an agent says is a claim, and quiet; what Milepost found is a fact, and a card.
import { html, useState } from './libraries.js';
import { clock, commit, many, money, span } from './format.js';
import { Icon, Mark } from './icons.js';
import { Pieces } from './inline.js';
import { bring } from './layout.js';
import { NothingToAsk, parted } from './proof.js';
import { pick } from './route.js';
import { ENDS, endOf } from './state.js';
import { alive, asking, hello, link, read } from './store.js';
import { Log, Prose } from './text.js';
import { tones } from './wording.js';

const MOST_STEPS = 60; // shown of a run of steps
const MOST_LINES = 200; // of what one printed
const LONGEST = 1400; // signs that are said, before the rest is folded
const FULL_COMMIT = /(?<=^commit )[0-9a-f]{40}$/m;
const ANSWERS = {
  approve: 'approved', reject: 'rejected', edit: 'edited', skip: 'skipped', delegate: 'delegated',
};
const MOST_SHOWN = 8; // lines of what is asked about

const Time = ({ at }) => html`<time>${clock(at)}</time>`;

/** Words of which the rest is shown on demand, when they are many. */
function Said({ text }) {
  const [open, setOpen] = useState(false);
  const folds = text.length > LONGEST && !open;
  return html`<p class="prose"><${Prose} text=${folds ? `${text.slice(0, LONGEST)}…` : text} /></p>
    ${folds && html`<button class="more" onClick=${() => setOpen(true)}>Show all of it</button>`}`;
}

const Happened = ({ entry }) => html`<div class="entry happened">
  <span><${Pieces} text=${entry.text} /></span><${Time} at=${entry.at} />
</div>`;

function Heading({ entry, begins }) {
  const attempt = read('talk').tasks.get(entry.task)?.attempts.find(one => one.number === entry.attempt);
  const agent = attempt?.agent || entry.agent || '';
  return html`<h3 class=${`entry lane${begins ? ' begins' : ''}`}>
    <button class="bare" onClick=${() => pick(entry.task, entry.attempt)}>
      <b><${Pieces} text=${entry.task} /></b>${entry.attempt > 0 && html` <span>attempt ${entry.attempt}</span>`}
    </button>
    ${agent && html`<span class="soft agent"><${Pieces} text=${agent} /></span>`}
    ${begins && html`<${Time} at=${entry.at} />`}
  </h3>`;
}

const Claim = ({ entry, label = 'the agent says' }) => html`<div class="entry claim">
  <span class="who">${label}</span><${Said} text=${entry.text} />
</div>`;

const showProof = entry => {
  pick(entry.task, entry.attempt);
  bring('code');
};

/** A verdict comes from checks alone: here they are beside it. */
function Fact({ entry }) {
  const attempt = read('talk', 'code').tasks.get(entry.task)?.attempts.find(one => one.number === entry.attempt);
  const { asked, nothing } = parted(attempt?.checks ?? []);
  return html`<div class=${`entry card checked v-${entry.verdict}`}>
    <div class="who"><span>milepost checked</span><${Time} at=${entry.at} /></div>
    <p class="finding"><${Mark} status=${entry.verdict} />
      <span><b>${entry.verdict}</b> <${Prose} text=${entry.text} /></span></p>
    ${asked.length > 0 && html`<ul class="asked">${asked.map(check => html`<li>
      <${Mark} status=${check.outcome} /><${Pieces} text=${check.name} />
      ${check.ms >= 100 && html`<span class="soft">${span(check.ms / 1000)}</span>`}
    </li>`)}</ul>`}
    <${NothingToAsk} names=${nothing} />
    ${attempt && html`<button class="more" onClick=${() => showProof(entry)}>
      ${entry.verdict === 'failed' ? 'Why, and what it changed' : 'Proof and changes'}
      ${attempt.cost > 0 && ` · ${money(attempt.cost)}`}
    </button>`}
  </div>`;
}

const Milepost = ({ entry }) => html`<div class="entry milepost">
  <${Icon} name="milepost" /><span>milepost <code>${commit(entry.commit)}</code></span><${Time} at=${entry.at} />
</div>`;

const Person = ({ entry, label, children }) => html`<div class="entry person">
  <div class="who"><span>${label}</span><${Time} at=${entry.at} /></div>${children}
</div>`;

function Answer({ entry }) {
  const gate = read('talk').gates.get(entry.gate);
  return html`<${Person} entry=${entry} label="a person answered">
    <p class="prose"><b>${ANSWERS[entry.answer] ?? entry.answer}</b>
      ${gate && html`: <${Prose} text=${gate.question} />`}</p>
    ${entry.text && html`<p class="prose"><${Prose} text=${entry.text} /></p>`}
  <//>`;
}

const DIFFS = new Set(['after', 'held']);

function Gate({ entry }) {
  const gate = read('talk').gates.get(entry.gate);
  if (!gate) return null;
  const lines = gate.shown.trimEnd().replace(FULL_COMMIT, commit).split('\n');
  const few = lines.slice(0, MOST_SHOWN);
  return html`<div class=${`entry card gate${gate.answer ? ' answered' : ''}`}>
    <p class="finding"><${Mark} status=${gate.kind === 'held' ? 'held' : 'asking'} />
      <b><${Prose} text=${gate.question} /></b></p>
    ${gate.shown.trim() && html`<${Log}
      lines=${few}
      kinds=${DIFFS.has(gate.kind) ? tones(few) : []}
      label="What the question is about"
    />`}
    ${lines.length > MOST_SHOWN && html`<p class="soft">${many(lines.length - MOST_SHOWN, 'more line')}</p>`}
    ${gate.answer
      ? html`<p class="soft">${ANSWERS[gate.answer] ?? gate.answer}</p>`
      : html`<button class="button main" onClick=${() => {
        asking.value = gate.gate;
      }}>Look and answer</button>`}
  </div>`;
}

const Wall = ({ entry }) => html`<div class="entry card wall">
  <div class="who"><span>a budget was reached</span><${Time} at=${entry.at} /></div>
  <p class="prose"><${Prose} text=${entry.text} /></p>
</div>`;

const Lessons = ({ entry }) => html`<details class="entry steps">
  <summary>told ${many(entry.lines.length, 'lesson')} of earlier attempts
    ${entry.held > 0 && html` <span class="soft">· ${entry.held} held out</span>`}</summary>
  <ul class="lessons">${entry.lines.map(line => html`<li><${Prose} text=${line} /></li>`)}</ul>
</details>`;

const Choice = ({ entry }) => html`<details class="entry steps">
  <summary><span class="soft">chosen</span> <${Prose} text=${entry.text} /></summary>
  <ul class="lessons">${(entry.considered ?? []).map(line => html`<li><${Prose} text=${line} /></li>`)}</ul>
</details>`;

/** Steps that follow each other, folded to the last one of them. */
function Steps({ entries }) {
  const [open, setOpen] = useState(false);
  const [most, setMost] = useState(MOST_STEPS);
  const last = entries.at(-1);
  if (entries.length === 1) return html`<div class="entry"><${Step} entry=${last} /></div>`;
  const failed = entries.filter(isFailed).length;
  const earlier = entries.length - most;
  return html`<details class="entry steps" open=${open} onToggle=${event => setOpen(event.currentTarget.open)}>
    <summary><span>${many(entries.length, 'step')}</span>
      ${failed > 0 && html` <span class="bad">${failed} failed</span>`}
      <span class="soft"> · </span><code><${Pieces} text=${inShort(last)} /></code></summary>
    ${open && earlier > 0 && html`<button class="more" onClick=${() => setMost(most + 200)}>
      Show ${many(Math.min(earlier, 200), 'earlier step')}
    </button>`}
    ${open && entries.slice(-most).map(entry => html`<${Step} key=${entry.seq} entry=${entry} />`)}
  </details>`;
}

const inShort = entry => (entry.kind === 'command' ? `$ ${entry.argv}` : entry.summary || entry.tool);

function isFailed(entry) {
  if (entry.kind === 'tool') return entry.failed;
  const command = read('talk').commands.get(entry.command);
  return Boolean(command?.ending) && endOf(command) === 'failure';
}

function Step({ entry }) {
  const [open, setOpen] = useState(false);
  const isCommand = entry.kind === 'command';
  const verb = isCommand ? (entry.by === 'milepost' ? 'check' : 'run') : entry.tool;
  return html`<details class="step" open=${open} onToggle=${event => setOpen(event.currentTarget.open)}>
    <summary><span class="verb"><${Pieces} text=${verb} /></span>
      <code><${Pieces} text=${isCommand ? entry.argv : entry.summary || entry.tool} /></code>
      ${isCommand ? html`<${Ended} name=${entry.command} />` : html`<${Took} entry=${entry} />`}</summary>
    ${open && html`<${Printed} entry=${entry} />`}
  </details>`;
}

const Took = ({ entry }) => html`<span class=${entry.failed ? 'bad' : 'soft'}>
  ${entry.failed ? 'failed · ' : ''}${span(entry.ms / 1000)}
</span>`;

function Ended({ name }) {
  const command = read('talk').commands.get(name);
  if (!command || (!command.ending && !command.cut)) {
    const seen = link.value === 'live' && alive.value;
    return html`<span class="soft">${seen ? 'running' : 'running when last seen'}</span>`;
  }
  if (command.cut) return html`<span class="bad">cut short</span>`;
  const end = endOf(command);
  const ended = `${command.ending} · ${span(command.ms / 1000)}`;
  if (end === 'untroubled') {
    return html`<span class="soft about" title=${command.about}>${ended} · ${command.about}</span>`;
  }
  return html`<span class=${end === 'failure' ? 'bad' : 'soft'}>${ended}</span>`;
}

function Printed({ entry }) {
  if (entry.kind === 'tool') {
    if (!entry.text) return html`<p class="soft nothing">Its result was not kept.</p>`;
    return html`<${Log} lines=${entry.text.split('\n').slice(-MOST_LINES)} label="Its result" />`;
  }
  const { lines, errors, more } = printedBy(read('talk', 'terminal'), entry);
  if (!lines.length) {
    const why = hello.value?.older ? 'It is older than these lines: see the terminal.' : 'It printed nothing.';
    return html`<p class="soft nothing">${why}</p>`;
  }
  return html`${more > 0 && html`<p class="soft nothing">${many(more, 'earlier line')} in the terminal</p>`}
    <${Log} lines=${lines} kinds=${errors} label="What it printed" />`;
}

/** The last lines that a command printed: they stand after its own line, between those of others. */
function printedBy({ lines }, { seq, command }) {
  const places = [];
  for (let place = firstAt(lines.seq, seq); place < lines.seq.length; place += 1) {
    if (lines.command[place] !== command || lines.kind[place] === 'command') continue;
    if (ENDS.has(lines.kind[place])) break;
    places.push(place);
  }
  const last = places.slice(-MOST_LINES);
  return {
    lines: last.map(place => lines.text[place]),
    errors: last.map(place => (lines.kind[place] === 'error' ? 'l-error' : null)),
    more: places.length - last.length,
  };
}

function firstAt(seqs, seq) {
  let [low, high] = [0, seqs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seqs[middle] < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

const SIGNALS = {
  uncertain: 'the agent says it is uncertain', exploring: 'the agent says it is exploring',
  committed: 'the agent says it has a plan',
};

const DRAWN = {
  run: Happened,
  said: Claim,
  signal: ({ entry }) => html`<${Claim} entry=${entry} label=${SIGNALS[entry.signal]} />`,
  chosen: Choice,
  lessons: Lessons,
  verdict: Fact,
  milepost: Milepost,
  gate: Gate,
  answer: Answer,
  budget: Wall,
  steered: ({ entry }) => html`<${Person} entry=${entry} label="steered">
    <p class="prose"><${Prose} text=${entry.text} /></p>
  <//>`,
};

export function Entry({ row }) {
  if (row.kind === 'lane') return html`<${Heading} entry=${row.first} begins=${row.begins} />`;
  if (row.kind === 'steps') return html`<${Steps} entries=${row.entries} />`;
  return html`<${DRAWN[row.kind] ?? Happened} entry=${row.first} />`;
}
