// All dialogs, what is told for a moment, and what is read out. No dialog opens by itself.
import { html, useState } from './libraries.js';
import { Dialog } from './dialog.js';
import { EditDialog } from './edit.js';
import { AgentField, GateDialog } from './gate.js';
import { Pieces } from './inline.js';
import { KEYS, keysOn } from './keys.js';
import { reset } from './layout.js';
import { announced, confirming, helping, toast } from './store.js';

export const Dialogs = () => html`<${GateDialog} /><${EditDialog} /><${ConfirmDialog} /><${HelpDialog} />
  <div class=${`toast${toast.value ? ' on' : ''}`} role="status"><${Pieces} text=${toast.value} /></div>
  <div class="hidden" id="announced" aria-live="polite">${announced.value}</div>`;

const ConfirmDialog = () => confirming.value && html`<${Confirm} ...${confirming.value} />`;

/** Asks once more before something is done, and for the name of an agent where that is needed. */
function Confirm({ title, text, label, act, agent = false }) {
  const [name, write] = useState('');
  const shut = () => {
    confirming.value = null;
  };
  const done = () => {
    shut();
    act(name.trim());
  };
  return html`<${Dialog} name="confirm" title=${title} close=${shut}>
    <p class="soft">${text}</p>
    ${agent && html`<label class="field-name" for="agent-name">The agent</label>
      <${AgentField} id="agent-name" value=${name} onInput=${event => write(event.target.value)} />`}
    <div class="buttons">
      <button class="button quiet first" onClick=${shut}>Not now</button>
      <button class="button main" disabled=${agent && !name.trim()} onClick=${done}>${label}</button>
    </div>
  <//>`;
}

function HelpDialog() {
  const shut = () => {
    helping.value = false;
  };
  if (!helping.value) return null;
  return html`<${Dialog} name="help" title="Keys" wide close=${shut}>
    <dl class="keys">${KEYS.map(({ names, what }) => html`<div>
      <dt>${names.map(name => html`<kbd>${name}</kbd>`)}</dt><dd>${what}</dd>
    </div>`)}</dl>
    <p class="soft">Splitters: arrow keys, with Shift for more, Home to reset one. Tasks: arrow keys.</p>
    <label class="switch">
      <input
        type="checkbox"
        checked=${keysOn.value}
        onChange=${event => {
          keysOn.value = event.target.checked;
        }}
      />
      single-letter keys are on
    </label>
    <div class="buttons">
      <button class="button quiet first" onClick=${reset}>Reset the panels</button>
      <button class="button main" onClick=${shut}>Close</button>
    </div>
  <//>`;
}
