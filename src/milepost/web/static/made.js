// With no task selected: what the run made with proof, what it did not, and which files changed.
import { html } from './libraries.js';
import { commit, many, money } from './format.js';
import { Mark } from './icons.js';
import { Inline, Pieces } from './inline.js';
import { pick } from './route.js';
import { read } from './store.js';
import { useFiles } from './files.js';
import { changedWords } from './tree.js';

export function Made({ showFiles }) {
  const state = read('code');
  const tasks = state.order.map(id => state.tasks.get(id));
  const made = tasks.filter(task => task.status === 'passed').sort((one, other) => other.endedAt - one.endedAt);
  const not = tasks.filter(task => ['held', 'failed', 'unverified'].includes(task.status));
  const taken = tasks.filter(task => task.status === 'accepted');
  return html`<div class="scroll code" tabindex="0" role="group" aria-label="What the run made">
    <${Part} title="What was not done" tasks=${not} />
    <${Part} title="Accepted, not verified" tasks=${taken} />
    <div class="lede"><h3>What was done</h3>
      <p class="soft">${made.length ? 'Newest first.' : 'There is no milepost yet.'}</p></div>
    <${List} tasks=${made} />
    ${made.length > 0 && html`<${ChangedFiles} showFiles=${showFiles} />`}
  </div>`;
}

const Part = ({ title, tasks }) =>
  tasks.length > 0 && html`<div class="lede"><h3>${title}</h3></div><${List} tasks=${tasks} />`;

const List = ({ tasks }) => html`<ul class="made">${tasks.map(task => html`<li key=${task.id}>
  <button class="bare" onClick=${() => pick(task.id)}>
    <${Mark} status=${task.status} />
    <span class="id"><${Pieces} text=${task.id} /></span>
    <span class="what"><span><${Inline} text=${task.title} /></span>
      <span class=${task.status === 'failed' ? 'bad' : 'soft'}><${Inline} text=${why(task)} /></span></span>
    ${task.commit && html`<code>${commit(task.commit)}</code>`}
  </button>
</li>`)}</ul>`;

function why(task) {
  if (task.status !== 'passed') return task.reason || task.status;
  const proof = task.tests ? many(task.tests, 'test') : many(task.checks, 'check');
  return [proof, many(task.attempts.length, 'attempt'), task.cost > 0 && money(task.cost)].filter(Boolean).join(' · ');
}

function ChangedFiles({ showFiles }) {
  const changed = (useFiles()?.files ?? []).filter(file => file.change);
  if (!changed.length) return null;
  return html`<div class="lede"><h3>What changed</h3>
    <p class="soft">${changedWords(changed)}${' '}
      <button class="more" onClick=${showFiles}>Show the files</button></p></div>`;
}
