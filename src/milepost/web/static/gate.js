// A gate: the question, exactly what is decided on, what each answer leads to. It never opens by itself.
import { html, useEffect, useRef, useState } from './libraries.js';
import { AGENTS } from './agents.js';
import { Dialog, onCtrlEnter } from './dialog.js';
import { many } from './format.js';
import { Questions } from './held.js';
import { Inline, Pieces } from './inline.js';
import { Refusal, useChange } from './refusal.js';
import { glance } from './state.js';
import { replan } from './stream.js';
import { asking, read } from './store.js';
import { heldParts, tones } from './wording.js';

// What an answer leads to, by the kind of the gate; the engine decides the same in gates.py.
const LEADS_TO = {
  approve: {
    before: 'the task starts',
    after: 'the work is merged as shown',
    held: 'the work is merged as shown: passed, with your name',
    destructive: 'it is run, this once',
  },
  reject: {
    before: 'the task ends without a milepost; your text is the reason',
    after: 'nothing is merged: the agent tries again and gets your text',
    held: 'nothing is merged: the next attempt gets your text',
    destructive: 'the command is not run: the agent gets your text and continues without it',
  },
  edit: {
    before: 'your text is added to the task, and it starts',
    after: 'nothing is merged: the agent tries again as you write',
    held: 'nothing is merged: the next attempt gets your text',
    destructive: 'the command is not run: the agent is told what to do instead',
  },
  skip: 'the task ends without a milepost, and the run continues with the others',
  delegate: 'another agent does the task',
  accept: 'the work is merged as it is; its milepost says that you accepted it, and that nothing proves it',
};
const leadsTo = (answer, kind) => LEADS_TO[answer][kind] ?? LEADS_TO[answer];

const OTHERS = {
  accept: { name: 'Accept, not verified', short: 'Accept', field: 'Why (may be left empty)', needed: false },
  reject: { name: 'Reject', held: 'Send back', field: 'Why not', needed: true },
  edit: { name: 'Edit', field: 'What to do instead, or as well', needed: true },
  skip: { name: 'Skip', field: 'Why (may be left empty)', needed: false },
  delegate: { name: 'Delegate', field: 'The agent that does it', needed: true },
};

// Held work is answered by fewer words; what could not be verified can be accepted, and not approved.
const OFFERED = { held: ['skip', 'accept', 'reject'] };
const offered = kind => OFFERED[kind] ?? ['delegate', 'skip', 'edit', 'reject'];
const nameOf = (answer, kind) => OTHERS[answer][kind] ?? OTHERS[answer].name;
const shortOf = (answer, kind) => OTHERS[answer].short ?? nameOf(answer, kind);

const shut = () => {
  asking.value = '';
};

export function GateDialog() {
  const state = read('head', 'talk');
  const gate = state.gates.get(asking.value);
  if (!gate) return null;
  const others = glance(state).gates.filter(one => one.gate !== gate.gate);
  return html`<${Question} key=${gate.gate} gate=${gate} task=${state.tasks.get(gate.task)} others=${others} />`;
}

/** What was shown first stays until the person asks for what waits now: nothing changes under their eyes. */
function Question({ gate, task, others }) {
  const [seen, look] = useState(gate);
  const [answer, choose] = useState('');
  const changed = gate.digest !== seen.digest;
  const lines = seen.question.split('\n');
  const title = html`<${Inline} text=${lines.at(-1)} />`;
  return html`<${Dialog} name="gate" title=${title} mark=${seen.kind === 'held' ? 'held' : 'asking'} wide close=${shut}>
    <p class="soft">task <${Pieces} text=${seen.task} />${task?.title && html` · <${Inline} text=${task.title} />`}</p>
    ${lines.length > 1 && html`<p><${Inline} text=${lines.slice(0, -1).join(' ')} /></p>`}
    <${Shown} gate=${seen} />
    ${gate.answer ? html`<${Answered} gate=${gate} />`
      : changed ? html`<${Changed} look=${() => look(gate)} />`
      : answer ? html`<${Words} gate=${seen} answer=${answer} back=${() => choose('')} />`
      : html`<${Answers} gate=${seen} task=${task} choose=${choose} />`}
    ${others.length > 0 && html`<p class="soft">
      ${many(others.length, 'other waits', 'others wait')} for you
      <button
        class="button small"
        onClick=${() => {
          asking.value = others[0].gate;
        }}
      >Look at <${Pieces} text=${others[0].task} /></button>
    </p>`}
  <//>`;
}

/** What you decide on, sign by sign. */
function Shown({ gate }) {
  const { questions, change } = gate.kind === 'held' ? heldParts(gate.shown) : { questions: [], change: gate.shown };
  const lines = change.replace(/\n$/, '').split('\n');
  const kinds = gate.kind === 'after' || gate.kind === 'held' ? tones(lines) : [];
  return html`<${Questions} questions=${questions} />
    <pre class="shown" tabindex="0" role="region" aria-label="What you decide on">
    ${lines.map((line, place) => html`<span class=${kinds[place] ?? ''}><${Pieces} text=${line} />${'\n'}</span>`)}
  </pre>`;
}

/** Gives an answer once; what it was refused with stays until another one is given. */
function useSending(gate) {
  const { busy, refusal, send: ask } = useChange();
  const send = async (answer, text) => {
    const path = `/api/gates/${encodeURIComponent(gate.gate)}`;
    const done = await ask(path, { answer, text, digest: gate.digest });
    if (done && asking.value === gate.gate) shut();
    if (done) replan();
  };
  return { busy, send, notice: html`<${Refusal} refusal=${refusal} />` };
}

function Answers({ gate, task, choose }) {
  const { busy, send, notice } = useSending(gate);
  const isHeld = gate.kind === 'held';
  const approves = !isHeld || task?.status !== 'unverified';
  return html`<dl class="leads">
      ${approves && html`<dt>If you approve</dt><dd>${leadsTo('approve', gate.kind)}</dd>`}
      <dt>${isHeld ? 'If you send it back' : 'If you say no'}</dt><dd>${leadsTo('reject', gate.kind)}</dd>
      ${isHeld && html`<dt>If you accept</dt><dd>${leadsTo('accept')}</dd>`}
    </dl>
    ${notice}
    <div class="buttons">
      <button class="button quiet first" onClick=${shut}>Not now</button>
      ${offered(gate.kind).map(name => html`<button class="button" onClick=${() => choose(name)}>
        ${shortOf(name, gate.kind)} …
      </button>`)}
      ${approves && html`<button class="button main" disabled=${busy} onClick=${() => send('approve', '')}>
        ${isHeld ? 'Approve' : 'Approve once'}
      </button>`}
    </div>`;
}

/** The words that go with an answer. */
function Words({ gate, answer, back }) {
  const { field, needed } = OTHERS[answer];
  const name = nameOf(answer, gate.kind);
  const [text, write] = useState('');
  const { busy, send, notice } = useSending(gate);
  const ref = useRef();
  useEffect(() => ref.current.focus(), []);
  const lacks = needed && !text.trim();
  const give = () => lacks || send(answer, text.trim());
  const box = {
    id: 'gate-words', value: text, onInput: event => write(event.target.value), onKeyDown: onCtrlEnter(give),
  };
  return html`<p>${name}: ${leadsTo(answer, gate.kind)}.</p>
    <label class="field-name" for="gate-words">${field}</label>
    ${answer === 'delegate'
      ? html`<${AgentField} field=${ref} ...${box} />`
      : html`<textarea ref=${ref} rows="3" ...${box} />`}
    ${notice}
    <div class="buttons">
      <button class="button quiet first" onClick=${back}>Back</button>
      <button class="button main" disabled=${busy || lacks} onClick=${give}>${name}</button>
    </div>`;
}

/** A name of an agent: any, with the known ones to choose from. */
export const AgentField = ({ field, ...others }) => html`<input
    ref=${field}
    list="agents"
    autocomplete="off"
    ...${others}
  />
  <datalist id="agents">${[...AGENTS, 'auto'].map(name => html`<option value=${name} />`)}</datalist>`;

const Answered = ({ gate }) => html`<p class="notice" role="status">
    This was answered: ${gate.answer}${gate.text && html` (<${Inline} text=${gate.text} />)`}.
  </p>
  <div class="buttons"><button class="button" onClick=${shut}>Close</button></div>`;

const Changed = ({ look }) => html`<p class="notice" role="alert">Another question waits for you now.</p>
  <div class="buttons">
    <button class="button quiet first" onClick=${shut}>Not now</button>
    <button class="button main" onClick=${look}>Show what waits now</button>
  </div>`;
