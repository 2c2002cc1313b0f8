// What waits for the person, and a line to steer by.
import { html, signal, useRef, useState } from './libraries.js';
import { withId } from './format.js';
import { Icon, Mark } from './icons.js';
import { Pieces } from './inline.js';
import { Refusal, useChange } from './refusal.js';
import { glance } from './state.js';
import { alive, asking, link, read, selected } from './store.js';
import { Prose } from './text.js';

const LONGEST_NOTE = 4000;

const drafts = signal(new Map()); // run and task → what was written and not sent

/** The gates without an answer: how many, and the first of them. */
export function Waits() {
  const { gates } = glance(read('head'));
  if (!gates.length) return null;
  const first = gates.find(gate => gate.task === selected.value) ?? gates[0];
  return html`<div class="waits" role="region" aria-label="Waits for you">
    <${Mark} status="asking" />
    <p><b>${gates.length} ${gates.length === 1 ? 'waits' : 'wait'} for you:</b>${' '}
      <${Prose} text=${withId(first.question, first.task)} /></p>
    <button class="button main" onClick=${() => {
      asking.value = first.gate;
    }}>Look</button>
  </div>`;
}

/** Why nobody would hear a note; nothing when somebody would. */
function silence(state) {
  if (!state.run) return 'No run has started.';
  if (state.state === 'finished') return 'The run is over: no agent will read a note.';
  if (link.value !== 'live') return 'The server does not answer: nothing can be sent.';
  if (!alive.value) return 'This run is not running now; continue it with `milepost resume`.';
  return '';
}

/** A note for who makes the next attempts. What was written stays until it was taken. */
export function Composer() {
  const box = useRef();
  const { busy, refusal, send: ask } = useChange();
  const [sent, setSent] = useState(''); // whose note was sent last
  const state = read('head');
  const why = silence(state);
  const task = selected.value;
  const whose = `${state.run?.run}/${task}`;
  const text = drafts.value.get(whose) ?? '';
  const write = words => {
    drafts.value = new Map(drafts.value).set(whose, words);
  };

  const send = async () => {
    const written = box.current.value.trim(); // what was typed last may not be drawn yet
    if (!written || why) return;
    setSent(whose);
    const said = await ask('/api/steer', { verb: 'note', task, text: written });
    if (said && drafts.value.get(whose)?.trim() === written) write('');
  };
  const press = event => {
    if (event.key === 'Escape') event.currentTarget.blur();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };

  return html`<form class="composer" onSubmit=${event => {
    event.preventDefault();
    send();
  }}>
    <${Refusal} refusal=${sent === whose && refusal} />
    <div class="field">
      <label for="note" class="to">to <b><${Pieces} text=${task || 'all'} /></b>
        <span class="hidden">: a note for the agent</span></label>
      <textarea
        id="note"
        ref=${box}
        rows="1"
        maxlength=${LONGEST_NOTE}
        autocomplete="off"
        placeholder=${why ? '' : task ? 'Write a note to its agent' : 'Write a note to every agent'}
        aria-describedby="note-counts"
        disabled=${why !== ''}
        value=${text}
        onInput=${event => write(event.currentTarget.value)}
        onKeyDown=${press}
      />
      <button
        class="icon"
        aria-label="Send the note"
        title="Send (Enter)"
        disabled=${why !== '' || busy || !text.trim()}
      ><${Icon} name="send" /></button>
    </div>
    <p class="counts soft" id="note-counts">
      <${Prose} text=${why || 'Agents read it from the next attempt on.'} />
      ${!why && html`<span class="keys-hint"> Shift-Enter starts a new line.</span>`}
    </p>
  </form>`;
}
