// #run=7f3a&task=2.1&attempt=3: what is shown is in the address, so that it can be passed on. `panel` in it brings
// one of the panels to the front, once.
import { batch, effect } from './libraries.js';
import { PANELS, bring } from './layout.js';
import { attempt, run, selected, shown } from './store.js';
import { show } from './stream.js';

/** Select a task, and one of its attempts; nothing for the whole run. */
export function pick(task = '', number = 0) {
  selected.value = task;
  attempt.value = number;
}

/** The address of a task of the run that is shown, also when a newer one is there. */
export const linkTo = task => new URL(hashOf({ run: shown(), task }), location.href).href;

function hashOf(words) {
  const query = new URLSearchParams(Object.entries(words).filter(([, word]) => word));
  return query.size ? `#${query}` : '';
}

function fromAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  pick(query.get('task') ?? '', Number(query.get('attempt')) || 0);
  if (PANELS.includes(query.get('panel'))) bring(query.get('panel'));
  return query.get('run') ?? run.value;
}

function toAddress() {
  const hash = hashOf({ run: run.value, task: selected.value, attempt: attempt.value });
  if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname);
}

run.value = fromAddress();
effect(toAddress);
addEventListener('hashchange', () => {
  batch(() => {
    const asked = fromAddress();
    if (asked !== run.value) show(asked);
  });
  toAddress();
});
