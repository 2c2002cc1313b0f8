// The text of a task in the roadmap, to be rewritten; it is sent with the digest of what was shown.
import { html, useEffect, useState } from './libraries.js';
import { mayRetry } from './again.js';
import { ask } from './ask.js';
import { Dialog, onCtrlEnter } from './dialog.js';
import { Refusal, useChange } from './refusal.js';
import { editing, read } from './store.js';
import { replan } from './stream.js';

const shut = () => {
  editing.value = '';
};

const OVER = new Set(['passed', 'accepted', 'held', 'failed', 'unverified']);

function whenItCounts({ state, tasks }, task) {
  const isOver = state === 'finished' || OVER.has(tasks.get(task)?.status);
  const counts = isOver ? 'This run is finished with it: the edit applies to the next run.'
    : 'A run in progress follows the new text.';
  return mayRetry() ? counts : `${counts} It can be committed when the run is over.`;
}

export const EditDialog = () => editing.value && html`<${Edit} key=${editing.value} task=${editing.value} />`;

function Edit({ task }) {
  const [was, setWas] = useState(null);
  const [text, write] = useState('');
  const { busy, refusal, send, forget } = useChange();
  const load = async () => {
    const told = await ask('/api/task', { task }, { aloud: true });
    if (!told) return shut();
    setWas(told);
    write(told.text);
    forget();
    return undefined;
  };
  useEffect(() => {
    load();
  }, []);
  const save = async commit => {
    if (!await send('/api/task', { task, text, digest: was.digest, commit })) return;
    shut();
    replan();
  };
  const commits = mayRetry(); // a run that goes on moves the branch itself
  const still = busy || !was || text === was.text || !text.trim();

  return html`<${Dialog} name="edit" title=${`Edit task ${task}`} wide close=${shut}>
    <p class="soft">
      ${was ? `From line ${was.line} of the roadmap.` : 'Reading the roadmap …'}
      ${' '}${whenItCounts(read('head'), task)}
    </p>
    <label class="field-name" for="task-text">Its lines, as Markdown</label>
    <textarea
      id="task-text"
      class="mono"
      rows="12"
      spellcheck="false"
      disabled=${!was}
      value=${text}
      onInput=${event => write(event.target.value)}
      onKeyDown=${onCtrlEnter(() => still || save(commits))}
    />
    <${Refusal} refusal=${refusal}>
      ${' '}<button class="button small" onClick=${load}>Start again from the current text</button>
    <//>
    <div class="buttons">
      <button class="button quiet first" onClick=${shut}>Not now</button>
      <button class=${`button${commits ? '' : ' main'}`} disabled=${still} onClick=${() => save(false)}>Save</button>
      ${commits && html`<button class="button main" disabled=${still} onClick=${() => save(true)}>
        Save and commit
      </button>`}
    </div>
  <//>`;
}
