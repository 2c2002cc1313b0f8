// #run=7f3a&task=2.1&attempt=3&panel=terminal: what is shown is in the address, so that it can be passed on.
import { effect } from './libraries.js';
import { front } from './layout.js';
import { attempt, run, selected } from './store.js';

/** Select a task, and one of its attempts; nothing for the whole run. */
export function pick(task = '', number = 0) {
  selected.value = task;
  attempt.value = number;
}

function fromAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  selected.value = query.get('task') ?? '';
  attempt.value = Number(query.get('attempt')) || 0;
  run.value = query.get('run') ?? run.value;
  if (query.get('panel')) front.value = query.get('panel');
}

fromAddress();
addEventListener('hashchange', fromAddress);
effect(() => {
  const query = new URLSearchParams();
  if (run.value) query.set('run', run.value);
  if (selected.value) query.set('task', selected.value);
  if (attempt.value) query.set('attempt', attempt.value);
  const hash = query.size ? `#${query}` : '';
  if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname);
});
