// How a run stands, in words. Pure.
import { glance } from './state.js';

const WORDS = {
  none: 'no run yet', running: 'running', paused: 'paused', finishing: 'finishing', finished: 'finished',
};
const ASKS = 'waits for you';
const REFUSED = new Set(['failed', 'unverified']);
const IN_WORK = ['running', 'asking', 'paused', 'finishing', 'stopping'];

/**
 * {kind, text, note} of a run, where the note is left out when there is little room; `left` when another run took its
 * place. Nothing is claimed of what cannot be seen.
 */
export function standing(state, { link, alive, left, stopping }) {
  const kind = state.state;
  if (kind === 'none' && link === 'connecting') return { kind, text: 'connecting' };
  if (kind === 'none') return { kind, text: WORDS[kind] };
  if (kind === 'finished') return { kind: isProven(state) ? 'proven' : kind, text: WORDS[kind] };
  const word = alive || kind === 'paused' ? WORDS[kind] : 'stopped';
  if (link === 'lost' || link === 'refused') return { kind: 'unseen', text: word, note: ' when last seen' };
  if (left) return { kind: 'left', text: 'abandoned', note: ' for another run' };
  const asks = kind === 'running' && isHeldUp(state);
  if (!alive && asks) return { kind: 'stopped', text: ASKS, note: ', not running' };
  if (!alive) return { kind: 'stopped', text: word, note: ', can be resumed' };
  if (stopping) return { kind: 'stopping', text: 'stopping' };
  if (asks) return { kind: 'asking', text: ASKS };
  const working = kind === 'running' ? 0 : glance(state).working.length;
  return { kind, text: WORDS[kind], note: working ? `, ${working} in progress` : '' };
}

/** Whether every task of it passed. */
const isProven = ({ order, tasks }) => order.length > 0 && order.every(id => tasks.get(id).status === 'passed');

/** Whether all that could go on waits for a person. */
function isHeldUp(state) {
  const { working, gates } = glance(state);
  return gates.length > 0 && working.length === 0;
}

/** What may be asked of it now. */
export function choices({ kind }) {
  return {
    pause: kind === 'running' || kind === 'asking',
    goOn: kind === 'paused' || kind === 'finishing',
    stop: IN_WORK.includes(kind),
    resume: kind === 'stopped',
  };
}

/** One or two commands with what they do, for whoever asks what is next. */
export function nextSteps(state, { kind, text }, link) {
  if (link === 'refused') return [['milepost web', 'gives this page a new key']];
  if (kind === 'stopped') {
    const waits = glance(state).gates.length > 0;
    return [['milepost resume', waits ? 'continues once you have answered' : 'continues where it stopped']];
  }
  if (kind === 'none' && text === WORDS.none) {
    return [['milepost plan', 'shows what would be done, and in which order'], ['milepost run', 'runs it']];
  }
  if (state.state !== 'finished') return [];
  const { tasks, by_hand: byHand } = state.summary;
  const refused = tasks.find(({ id }) => REFUSED.has(state.tasks.get(id)?.status));
  const asks = glance(state).gates.length > 0;
  const newest = tasks.findLast(task => task.commit);
  const steps = [];
  if (byHand) steps.push([byHand, 'merges the mileposts into your branch']);
  if (asks) steps.push(['milepost gates', 'the questions about held work']);
  if (refused) steps.push([`milepost proof ${refused.id}`, 'what was tried, and why it was not accepted']);
  if (newest && !refused && !asks) steps.push([`milepost proof ${newest.id}`, 'how it was verified']);
  if (newest) steps.push([`milepost undo ${newest.id}`, 'undoes that milepost only']);
  return steps.slice(0, 2);
}
