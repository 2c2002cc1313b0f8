// Trying a task again: by whom it was tried before, or by somebody else; only when its run is over.
import { html, useEffect, useState } from './libraries.js';
import { AGENTS } from './agents.js';
import { copy } from './copy.js';
import { Icon } from './icons.js';
import { Refusal, useChange } from './refusal.js';
import { hello, read } from './store.js';
import { visible } from './text.js';
import { quoted } from './wording.js';

/** Whether a task can be tried in a run of its own: not while this one may go on. */
export const mayRetry = () => read('head').state === 'finished' || (hello.value?.facts?.ended ?? false);

const isPerson = name => name && !name.startsWith('recipe:');

/** Who was seen at work in this run, then who is known anyhow. */
function othersThan(by, { tasks }) {
  const seen = [...tasks.values()].flatMap(task => task.attempts.map(one => one.agent));
  return [...new Set([...seen, ...AGENTS])].filter(name => isPerson(name) && name !== by);
}

/** The button, with whom to ask: nobody is named unless the person chooses somebody. */
export function Retry({ task }) {
  const by = task.attempts.map(one => one.agent).findLast(isPerson) ?? '';
  const [agent, choose] = useState('');
  const [asked, setAsked] = useState(false);
  const { busy, refusal, send, forget } = useChange();
  useEffect(forget, [agent]);
  const command = ['milepost retry', quoted(task.id), agent && `--agent ${quoted(agent)}`].filter(Boolean).join(' ');
  const can = mayRetry();
  const retry = async () =>
    setAsked((await send('/api/steer', { verb: 'retry', task: task.id, text: agent })) !== null);
  return html`<div class="again">
    <label for="agent">Try again</label>
    <select id="agent" value=${agent} onChange=${event => choose(event.currentTarget.value)}>
      <option value="">as before${by && ` (${visible(by)})`}</option>
      ${othersThan(by, read('code')).map(name => html`<option value=${name}>with ${visible(name)}</option>`)}
    </select>
    <button
      class=${`button${can ? ' main' : ''}`}
      disabled=${!can || busy || asked}
      aria-describedby=${can ? null : 'retry-when'}
      onClick=${retry}
    >${asked ? 'Asked' : html`Retry ${visible(task.id)}`}</button>
    ${!can && html`<span class="soft" id="retry-when">when the run is over</span>`}
    <button class="button quiet" title=${visible(command)} onClick=${() => copy(command)}>
      <${Icon} name="copy" />command
    </button>
  </div>
  <${Refusal} refusal=${refusal} />`;
}
