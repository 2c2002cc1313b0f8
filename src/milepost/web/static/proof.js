// The proof of an attempt: why it was refused, and each question that was asked before and after.
import { html, useState } from './libraries.js';
import { Retry } from './again.js';
import { ask } from './ask.js';
import { answerOf } from './compare.js';
import { copy } from './copy.js';
import { many, span } from './format.js';
import { Mark } from './icons.js';
import { Inline, Pieces } from './inline.js';
import { Advice, Log, Prose, visible } from './text.js';
import { tones } from './wording.js';

const MOST_EVIDENCE = 40; // lines
const MOST_LOG = 5000;

/** Why an attempt was refused, with the evidence; what can be done about it when it was the last one. */
export function Refused({ task, attempt, checks, isLast }) {
  const failed = checks.filter(check => check.failed);
  return html`<section class="why" aria-label="Why it was refused">
    <p class="lead"><b>Why it was refused.</b> <${Prose} text=${attempt.reason || 'No reason was given.'} /></p>
    ${failed.filter(check => check.details.length).map(check => html`<${Evidence} key=${check.name} check=${check} />`)}
    ${isLast && html`<${Onward} task=${task} />`}
  </section>`;
}

/** What a person can do about a task that came to no milepost. */
export const Onward = ({ task }) => html`
  ${task.proposal && html`<p class="proposal"><${Advice} text=${task.proposal} /></p>`}
  ${(task.status === 'failed' || task.status === 'unverified') && html`<${Retry} task=${task} />`}`;

function Evidence({ check }) {
  const [open, setOpen] = useState(false);
  const lines = check.details.flatMap(text => text.split('\n'));
  const few = open ? lines : lines.slice(0, MOST_EVIDENCE);
  return html`<figure>
    <figcaption class="soft"><${Pieces} text=${check.name} /></figcaption>
    <${Log} lines=${few} kinds=${tones(few)} label=${`Evidence of ${visible(check.name)}`} says />
    ${few.length < lines.length && html`<button class="more" onClick=${() => setOpen(true)}>
      Show all ${lines.length} lines
    </button>`}
  </figure>`;
}

export const Unverified = ({ task, attempt, isLast, children }) => html`<section
  class="why unsure"
  aria-label="Why it is unverified"
>
  <p class="lead"><b>Why it is unverified.</b> <${Prose} text=${attempt.reason || task.reason} /></p>
  ${children}
  ${isLast && html`<${Onward} task=${task} />`}
</section>`;

/** The questions with their answers at the base and after the attempt. */
export function Checks({ where, checks, nothing }) {
  if (!checks.length) return html`<p class="soft pad">No check was run.</p>`;
  return html`<div class="checks" role="group" aria-label="Checks" tabindex="0"><table>
    <thead><tr>
      <th scope="col">check</th><th scope="col">what was checked</th>
      <th scope="col">before</th><th scope="col">after</th>
      <th scope="col" class="number">time</th><th><span class="hidden">its log</span></th>
    </tr></thead>
    ${checks.map(check => html`<${Check} key=${`${where.attempt}/${check.name}`} where=${where} check=${check} />`)}
  </table></div>
  <${NothingToAsk} names=${nothing} />`;
}

function Check({ where, check }) {
  const [log, setLog] = useState(null); // null folded, '' on its way
  const show = async () => {
    if (log !== null) {
      setLog(null);
      return;
    }
    setLog('');
    const answer = await ask('/api/log', { ...where, check: check.name }, { aloud: true });
    setLog(answer ? answer.text || 'It printed nothing.' : null);
  };
  return html`<tbody class=${answerOf(check)}>
    <tr>
      <th scope="row"><${Mark} status=${answerOf(check)} /><${Pieces} text=${check.name} />
        ${check.decisive && html`<span class="decisive" title="About this task in particular">decisive</span>`}</th>
      <td class="asked-what"><${Inline} text=${check.asked} /></td>
      <td class="before"><${Pieces} text=${check.before || '–'} /></td>
      <td class="after">
        <span class="arrow" aria-hidden="true">→ </span><${Pieces} text=${check.after || '–'} />
      </td>
      <td class="number">${check.seconds == null ? '' : span(check.seconds)}</td>
      <td class="number"><button class="more" aria-expanded=${log !== null} onClick=${show}>
        log<span class="hidden"> of <${Pieces} text=${check.name} /></span>
      </button></td>
    </tr>
    ${log !== null && html`<tr><td colspan="6"><${WholeLog} text=${log} name=${check.name} /></td></tr>`}
  </tbody>`;
}

function WholeLog({ text, name }) {
  if (text === '') return html`<span class="soft">Fetching its log …</span>`;
  const lines = text.split('\n');
  const left = lines.length - MOST_LOG;
  return html`${left > 0 && html`<p class="soft">after ${many(left, 'earlier line')}; copy gives all</p>`}
    <${Log} lines=${lines.slice(-MOST_LOG)} label=${`Log of ${visible(name)}`} />
    <button class="more" onClick=${() => copy(text)}>Copy all of it</button>`;
}

/** The checks of an attempt in work, as they come. */
export function Coming({ checks }) {
  const { asked, nothing } = parted(checks);
  return html`<ul class="coming" aria-label="Checks so far">
    ${asked.map(check => html`<li key=${check.name}>
      <${Mark} status=${check.outcome} /><b><${Pieces} text=${check.name} /></b>
      <span><${Inline} text=${check.summary} /></span><span class="soft number">${span(check.ms / 1000)}</span>
    </li>`)}
  </ul>
  <${NothingToAsk} names=${nothing} />`;
}

/** Checks that asked something, and the names of those that had nothing to ask. */
export const parted = checks => ({
  asked: checks.filter(check => check.outcome !== 'absent'),
  nothing: checks.filter(check => check.outcome === 'absent').map(check => check.name),
});

export const NothingToAsk = ({ names }) =>
  names?.length > 0 && html`<p class="soft nothing-asked">nothing to check: <${Pieces} text=${names.join(', ')} /></p>`;
