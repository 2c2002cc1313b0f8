// Asking for a change from a place in the page, where what it was refused with stays until it is asked for again.
import { html, useState } from './libraries.js';
import { change } from './ask.js';
import { toast } from './store.js';
import { Advice } from './text.js';

/** {busy, refusal, send}: `send` gives what was said, or null; only one at a time. */
export function useChange() {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState('');
  const send = async (path, body) => {
    if (busy) return null;
    setBusy(true);
    const done = await change(path, body);
    setRefusal(done ? '' : toast.value);
    setBusy(false);
    return done;
  };
  return { busy, refusal, send };
}

export const Refusal = ({ text }) =>
  text && html`<p class="notice" role="alert">Not done: <${Advice} text=${text} /></p>`;
