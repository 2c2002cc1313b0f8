// Questions to the server, and changes that are asked of it.
import { acts, shown, stopping, tell } from './store.js';

/** The address of a question about the run that is shown. */
function address(path, words = {}) {
  const run = shown();
  const query = new URLSearchParams({ ...(run ? { run } : {}), ...words });
  return query.size ? `${path}?${query}` : path;
}

/** The answer to a question; null where there is none, with what to do about it told to the person when `aloud`. */
export async function ask(path, words = {}, { aloud = false } = {}) {
  try {
    const response = await fetch(address(path, words));
    const answer = await response.json();
    if (response.ok) return answer;
    if (aloud) tell(inWords(answer, response.status));
  } catch {
    if (aloud) tell('the server does not answer');
  }
  return null;
}

/** Ask for a change; gives what was said, or null when it was refused, which the person and `refused` are told. */
export async function change(path, body, refused = () => {}) {
  const headers = { 'Content-Type': 'application/json', 'X-Milepost': '1' };
  try {
    const response = await fetch(address(path), { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) return refuse(inWords(answer, response.status), refused);
    tell(answer.said ?? 'done');
    acts.value += 1;
    return answer;
  } catch {
    return refuse('the server does not answer: nothing was changed', refused);
  }
}

function refuse(text, refused) {
  tell(text);
  refused(text);
  return null;
}

const inWords = ({ error, advice }, status) => [error ?? `refused (${status})`, advice].filter(Boolean).join(' · ');

/** Ask the run for something; a task or a text only where the verb needs one. */
export async function steer(verb, task = '', text = '') {
  const said = await change('/api/steer', { verb, task, text });
  if (said && verb === 'stop') stopping.value = true;
  return said;
}
