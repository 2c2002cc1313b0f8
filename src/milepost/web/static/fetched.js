// Answers of the server, each kept under its own name: one that comes late is never taken for that to another question.
import { signal, useEffect } from './libraries.js';
import { ask } from './ask.js';
import { hello } from './store.js';

const MOST = 24; // a diff may be large
const kept = new Map(); // name → {stamp, answer}, the one that was used last at the end

/**
 * The answer to a question: undefined while it is on its way, null where there is none. Another `stamp` has it asked
 * again; until then the answer from before is given. Without a question nothing is asked.
 */
export function useAnswer(question, stamp = '') {
  const name = question ? nameOf(question) : '';
  const slot = name ? slotOf(name) : null;
  useEffect(() => {
    if (slot) fetchInto(slot, question, stamp);
  }, [name, stamp]);
  return slot?.answer.value;
}

/** Ask once more, and tell the person why there is no answer. */
export function askAgain(question) {
  const slot = slotOf(nameOf(question));
  const { stamp } = slot;
  slot.stamp = null;
  slot.answer.value = undefined;
  fetchInto(slot, question, stamp, { aloud: true });
}

const nameOf = ({ path, words }) => JSON.stringify([hello.value?.epoch ?? '', path, words]);

function slotOf(name) {
  const slot = kept.get(name) ?? { stamp: null, answer: signal(undefined) };
  kept.delete(name);
  kept.set(name, slot);
  if (kept.size > MOST) kept.delete(kept.keys().next().value);
  return slot;
}

async function fetchInto(slot, { path, words }, stamp, how = {}) {
  if (slot.stamp === stamp) return;
  slot.stamp = stamp;
  const answer = await ask(path, words, how);
  if (slot.stamp === stamp) slot.answer.value = answer ?? slot.answer.value ?? null;
}
