// Two attempts at a task beside each other: what the checks said of them, and what they changed.
import { html } from './libraries.js';
import { File } from './diff.js';
import { Mark } from './icons.js';
import { Inline, Pieces } from './inline.js';

/** `left` and `right` are {attempt, proof}: an attempt of the state, and what the server tells of it. */
export function Beside({ left, right }) {
  const paths = [...new Set([left, right].flatMap(one => one.proof.diff.files.map(file => file.path)))].sort();
  const numbers = `${left.attempt.number} and ${right.attempt.number}`;
  return html`<section class="beside" aria-label=${`Attempts ${numbers} beside each other`}>
    <div class="pair heads">${[left, right].map(one => html`<${Summary} one=${one} />`)}</div>
    <${Answers} left=${left} right=${right} />
    ${paths.map(path => html`<div class="pair" key=${path}>
      <${Side} one=${left} path=${path} /><${Side} one=${right} path=${path} />
    </div>`)}
    ${!paths.length && html`<p class="soft pad">Neither changed a file.</p>`}
  </section>`;
}

const Summary = ({ one: { attempt } }) => html`<div class=${`side-head v-${attempt.verdict}`}>
  <p><${Mark} status=${attempt.verdict || 'working'} /><b>attempt ${attempt.number}</b>${' '}
    <span class="soft"><${Pieces} text=${attempt.agent} /></span></p>
  <p class="soft"><${Inline} text=${attempt.reason || attempt.verdict || 'in progress'} /></p>
</div>`;

/** A check of a proof as a mark tells it. */
export const answerOf = check => (check.failed ? 'failed' : check.held ? 'held' : 'passed');

function Answers({ left, right }) {
  const names = [...new Set([left, right].flatMap(one => one.proof.checks.map(check => check.name)))];
  const answer = (one, name) => {
    const check = one.proof.checks.find(known => known.name === name);
    if (!check) return html`<span class="soft">not run</span>`;
    return html`<${Mark} status=${answerOf(check)} />
      <span class=${check.failed ? 'bad' : ''}><${Pieces} text=${check.after} /></span>`;
  };
  return html`<div class="checks" role="group" aria-label="Results of the checks for both attempts" tabindex="0"><table>
    <thead><tr>
      <th scope="col">check</th>
      ${[left, right].map(one => html`<th scope="col">attempt ${one.attempt.number}</th>`)}
    </tr></thead>
    <tbody>${names.map(name => html`<tr key=${name}>
      <th scope="row"><${Pieces} text=${name} /></th><td>${answer(left, name)}</td><td>${answer(right, name)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

function Side({ one: { attempt, proof }, path }) {
  const file = proof.diff.files.find(known => known.path === path);
  if (file) return html`<div class="side"><${File} file=${file} /></div>`;
  return html`<div class="side"><p class="untouched soft">
    attempt ${attempt.number} leaves <code><${Pieces} text=${path} /></code> as it was
  </p></div>`;
}
