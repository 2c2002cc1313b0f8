// Asking for a change from a place in the page, where what it was refused with stays until things stand otherwise.
import { html, useEffect, useState } from './libraries.js';
import { change } from './ask.js';
import { clock } from './format.js';
import { acts, alive } from './store.js';
import { Advice } from './text.js';

/** {busy, refusal, send, forget}: `send` gives what was said, or null, one at a time; `forget` drops the refusal. */
export function useChange() {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState(null);
  const forget = () => setRefusal(null);
  const send = async (path, body) => {
    if (busy) return null;
    setBusy(true);
    setRefusal(null);
    const done = await change(path, body, text => setRefusal({ text, at: Date.now() / 1000 }));
    setBusy(false);
    return done;
  };
  useEffect(forget, [acts.value, alive.value]);
  return { busy, refusal, send, forget };
}

/** What was refused, and when: what was wrong may have been mended elsewhere since. */
export const Refusal = ({ refusal, children }) => refusal && html`<p class="notice" role="alert">
  Not done at ${clock(refusal.at).slice(0, 5)}: <${Advice} text=${refusal.text} />${children}
</p>`;
