// Code and proof of the selected task: why it was refused first, then the checks, then the changes; or the files.
import { html, signal } from './libraries.js';
import { Beside } from './compare.js';
import { Diff } from './diff.js';
import { askAgain, useAnswer } from './fetched.js';
import { Files } from './files.js';
import { commit, money, span } from './format.js';
import { Basis, Held } from './held.js';
import { Mark } from './icons.js';
import { Inline, Pieces } from './inline.js';
import { Panel } from './layout.js';
import { Made } from './made.js';
import { Checks, Coming, Onward, Refused, Unverified } from './proof.js';
import { pick } from './route.js';
import { glance } from './state.js';
import { alive, asking, attempt as chosen, link, now, plan, read, second, selected } from './store.js';
import { CopyButton, Prose, visible } from './text.js';

const MOST_BUTTONS = 4; // attempts beyond that are in a list

export const view = signal('proof'); // proof | files
const beside = signal(new Map()); // task → the attempt that the chosen one is compared with

export function Code() {
  const state = read('code');
  const task = selected.value ? state.tasks.get(selected.value) : null;
  const attempt = task && (task.attempts.find(one => one.number === chosen.value) ?? task.attempts.at(-1));
  const showsFiles = view.value === 'files';
  return html`<${Panel}
    name="code"
    title="Code and proof"
    note=${!showsFiles && selected.value && html`task <${Pieces} text=${selected.value} />`}
    tools=${html`${!showsFiles && task && html`<${Attempts} task=${task} attempt=${attempt} />`}<${Views} />`}
  >
    ${showsFiles ? html`<${Files} />` : html`<${Shown} task=${task} attempt=${attempt} />`}
  <//>`;
}

function Shown({ task, attempt }) {
  if (!selected.value) return html`<${Made} showFiles=${() => show('files')} />`;
  if (!attempt) return html`<${Untried} id=${selected.value} task=${task} />`;
  return html`<${Attempt} key=${`${task.id}/${attempt.number}`} task=${task} attempt=${attempt} />`;
}

const show = name => {
  view.value = name;
};

const Views = () => html`<div class="segments" role="group" aria-label="Proof or files">
  ${[['proof', 'Proof'], ['files', 'Files']].map(([name, label]) => html`<button
    aria-pressed=${view.value === name}
    onClick=${() => show(name)}
  >${label}</button>`)}
</div>`;

function Attempts({ task, attempt }) {
  if (task.attempts.length < 2) return null;
  if (task.attempts.length > MOST_BUTTONS) {
    const choose = event => pick(task.id, Number(event.currentTarget.value));
    return html`<select aria-label="Attempt" value=${String(attempt.number)} onChange=${choose}>
      ${task.attempts.map(one => html`<option value=${String(one.number)}>
        attempt ${one.number}: ${one.verdict || 'in progress'}
      </option>`)}
    </select>`;
  }
  return html`<div class="segments" role="group" aria-label="Attempts">${task.attempts.map(one => html`<button
    aria-pressed=${one.number === attempt.number}
    title=${`attempt ${one.number}, ${visible(one.agent)}`}
    onClick=${() => pick(task.id, one.number)}
  ><${Mark} status=${one.verdict || 'working'} /><span class="hidden">attempt </span>${one.number}</button>`)}</div>`;
}

/** What the server tells of an attempt; asked again whenever a stage or a check of it is over, and once it is. */
function useProof(task, attempt) {
  const { run } = read('code');
  const words = { run: run?.run, task: task.id, attempt: attempt.number };
  const question = run ? { path: '/api/attempt', words } : null;
  const { verdict, stage, checks, endedAt, milepost } = attempt;
  const stamp = [verdict || `${stage} ${checks.length}`, endedAt, milepost].join();
  return { question, proof: useAnswer(question, stamp) };
}

function Attempt({ task, attempt }) {
  const { question, proof } = useProof(task, attempt);
  const other = task.attempts.find(one => one !== attempt && one.number === besideOf(task));
  const isLast = attempt === task.attempts.at(-1);
  const gate = isLast ? glance(read('head')).gates.find(one => one.task === task.id) : null;
  const verdict = attempt.verdict;
  const checks = proof?.checks ?? [];
  return html`<div class="scroll code" tabindex="0" role="group" aria-label="Verdict, proof and changes">
    <div class="lede"><h3><${Inline} text=${task.title || task.id} /></h3>
      <${Sentence} task=${task} attempt=${attempt} proof=${proof} gate=${gate} /></div>
    ${verdict && gate && gate.kind !== 'held' && html`<section class="in-work" aria-label="Waits for you">
      <${Asks} gate=${gate} />
    </section>`}
    ${(verdict === 'held' || proof?.decided) && html`<${Held} attempt=${attempt} proof=${proof} isOpen=${Boolean(gate)}>
      ${gate ? html`<${Look} gate=${gate} />` : isLast && html`<${Onward} task=${task} />`}
    <//>`}
    ${verdict === 'failed' && html`<${Refused} task=${task} attempt=${attempt} checks=${checks} isLast=${isLast} />`}
    ${verdict === 'unverified' && !proof?.decided && html`<${Unverified} ...${{ task, attempt, isLast }}>
      ${gate && html`<${Look} gate=${gate} />`}
    <//>`}
    ${verdict && html`<${Basis} lines=${proof?.basis} />`}
    ${!verdict && html`<${InWork} task=${task} attempt=${attempt} gate=${gate} />`}
    ${verdict === 'passed' && task.commit && html`<${ProveAgain} task=${task} />`}
    ${verdict && html`<${Choice} task=${task} attempt=${attempt} />`}
    ${verdict && proof === undefined && html`<p class="soft pad">Fetching its proof and its changes …</p>`}
    ${verdict && proof === null && html`<${Missing} question=${question} />`}
    ${proof && other && html`<${Compared} task=${task} attempt=${attempt} proof=${proof} other=${other} />`}
    ${proof && !other && html`
      ${verdict && html`<${Checks} where=${question.words} checks=${checks} nothing=${proof.nothing_to_ask} />`}
      ${(verdict || proof.diff.files.length > 0) && html`<${Diff} diff=${proof.diff} where=${question.words} />`}`}
  </div>`;
}

const Missing = ({ question }) => html`<p class="soft pad">Its proof and its changes could not be fetched.${' '}
  <button class="more" onClick=${() => askAgain(question)}>Try again</button></p>`;

/** The verdict, and who, when and what it cost, in a line. */
function Sentence({ task, attempt, proof, gate }) {
  const { verdict } = attempt;
  const isTaken = task.status === 'accepted' && attempt === task.attempts.at(-1);
  const status = isTaken ? 'accepted' : gate && gate.kind !== 'held' ? 'asking' : verdict || 'working';
  const found = isTaken ? 'accepted, not verified' : verdict === 'passed' && gate ? 'passed its checks' : verdict;
  const words = [found, gate && 'waits for you'].filter(Boolean).join(', ') || 'in progress';
  const facts = [
    `${words}, attempt ${attempt.number} of ${task.attempts.length}`,
    attempt.agent,
    attempt.ms > 0 && span(attempt.ms / 1000),
    attempt.cost > 0 && money(attempt.cost),
    verdict === 'passed' && proof?.confidence > 0 && `confidence ${Math.round(proof.confidence * 100)} %`,
  ].filter(Boolean);
  const made = (verdict === 'passed' || isTaken) && (attempt.milepost || proof?.milepost);
  return html`<p class=${`sentence v-${status}`}><${Mark} status=${status} /><span>
    ${facts.map((fact, place) => html`${place > 0 && ' · '}<${Pieces} text=${fact} />`)}
    ${made && html` · milepost <code>${commit(made)}</code>`}
    ${!made && verdict && proof?.ref && html` · kept at <code><${Pieces} text=${proof.ref} /></code>`}
  </span></p>`;
}

/** What an attempt does now: its clock stands still when nobody works, or nobody tells us. */
function InWork({ task, attempt, gate }) {
  const moves = !gate && link.value === 'live' && alive.value;
  if (moves) second.value;
  const doing = [attempt.stage, task.doing].filter(Boolean).join(' · ');
  return html`<section class="in-work" aria-label="In progress">
    <p><span class="doing"><${Pieces} text=${doing || 'begins'} /></span>
      ${!gate && html`<span class="soft">${moves ? span(now() - attempt.startedAt) : 'when last seen'}</span>`}</p>
    ${gate && html`<${Asks} gate=${gate} />`}
    ${attempt.checks.length > 0 && html`<${Coming} checks=${attempt.checks} />`}
    ${!attempt.checks.length && !gate && html`<p class="soft">No check has run yet.</p>`}
  </section>`;
}

const Look = ({ gate }) => html`<button
  class="button main"
  onClick=${() => {
    asking.value = gate.gate;
  }}
>Look and answer</button>`;

const Asks = ({ gate }) => html`<p class="asks"><${Prose} text=${gate.question} /><${Look} gate=${gate} /></p>`;

function ProveAgain({ task }) {
  const command = `milepost verify ${task.id} --replay`;
  return html`<p class="prove"><span class="soft">verify it again</span> <code>${command}</code>
    <${CopyButton} text=${command} label=${`Copy ${command}`} /></p>`;
}

const besideOf = task => beside.value.get(task.id) ?? 0;

/** Another attempt to lay beside this one: a button where there is one, a list where there are more. */
function Choice({ task, attempt }) {
  const others = task.attempts.filter(one => one !== attempt && one.verdict);
  const shown = besideOf(task);
  const set = number => {
    beside.value = new Map(beside.value).set(task.id, number);
  };
  if (!others.length) return null;
  if (others.length === 1) {
    const [{ number }] = others;
    const on = shown === number;
    return html`<p class="choice"><button class="button small" aria-pressed=${on} onClick=${() => set(on ? 0 : number)}>
      ${on ? `Stop comparing with attempt ${number}` : `Compare with attempt ${number}`}
    </button></p>`;
  }
  return html`<p class="choice"><label for="beside">compare with</label>
    <select id="beside" value=${String(shown)} onChange=${event => set(Number(event.currentTarget.value))}>
      <option value="0">nothing</option>
      ${others.map(one => html`<option value=${String(one.number)}>attempt ${one.number}, ${one.verdict}</option>`)}
    </select></p>`;
}

function Compared({ task, attempt, proof, other }) {
  const { question, proof: another } = useProof(task, other);
  if (another === undefined) return html`<p class="soft pad">Fetching attempt ${other.number} …</p>`;
  if (another === null) return html`<${Missing} question=${question} />`;
  const [here, there] = [{ attempt, proof }, { attempt: other, proof: another }];
  const [left, right] = other.number < attempt.number ? [there, here] : [here, there];
  return html`<${Beside} left=${left} right=${right} />`;
}

/** A task that nobody has tried yet: what the roadmap says of it. */
function Untried({ id, task }) {
  const planned = plan.value.tasks.find(one => one.id === id);
  if (!task && !planned) return html`<p class="empty">This run has no task <${Pieces} text=${id} />.</p>`;
  const facts = [
    ['files', planned?.files?.join(', ') || 'none named'],
    ['verify', planned?.verify?.join(' && ') || 'none: it can only end unverified'],
    ['after', planned?.after?.join(', ') || 'nothing'],
  ];
  return html`<div class="scroll code" tabindex="0" role="group" aria-label="What the roadmap says">
    <div class="lede"><h3><${Inline} text=${planned?.title || task?.title || id} /></h3>
      <p class="sentence"><${Mark} status=${task?.status ?? 'waiting'} />
        <span><${Inline} text=${task?.reason || 'not started'} /></span></p></div>
    ${planned && html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt>
      <dd><code><${Pieces} text=${value} /></code></dd>`)}</dl>`}
    ${planned?.text && html`<pre class="log words"><${Prose} text=${planned.text} /></pre>`}
  </div>`;
}
