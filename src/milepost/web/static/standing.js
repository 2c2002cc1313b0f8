// How a run stands, in words. Pure.

const WORDS = {
  none: 'no run yet', running: 'running', paused: 'paused', finishing: 'finishing', finished: 'finished',
};

/** {kind, text} of a run; `left` when another run took its place. Nothing is claimed of what cannot be seen. */
export function standing(state, { link, alive, left }) {
  if (state.state === 'none' && link === 'connecting') return { kind: 'none', text: 'connecting' };
  if (state.state === 'none' || state.state === 'finished') return { kind: state.state, text: WORDS[state.state] };
  if (link === 'lost' || link === 'refused') return { kind: 'unseen', text: `${wordOf(state, alive)} when last seen` };
  if (left) return { kind: 'stopped', text: 'left for another run' };
  if (!alive) return { kind: 'stopped', text: `${wordOf(state, alive)}, can go on` };
  return { kind: state.state, text: WORDS[state.state] };
}

const wordOf = (state, alive) => (alive || state.state === 'paused' ? WORDS[state.state] : 'stopped');

/** What may be asked of it now. */
export function choices({ kind, text }) {
  return {
    pause: kind === 'running',
    goOn: kind === 'paused' || kind === 'finishing',
    stop: ['running', 'paused', 'finishing'].includes(kind),
    resume: kind === 'stopped' && text.endsWith('can go on'),
  };
}

/** One or two commands with what they do, for whoever asks what is next. */
export function nextSteps(state, { kind, text }, link) {
  if (link === 'refused') return [['milepost web', 'gives this page a new key']];
  if (kind === 'stopped' && text.endsWith('can go on')) return [['milepost resume', 'goes on where it was']];
  if (kind !== 'finished') return [];
  const { tasks, by_hand: byHand } = state.summary;
  const refused = tasks.find(task => task.verdict && task.verdict !== 'passed');
  const newest = tasks.findLast(task => task.commit);
  const steps = [];
  if (byHand) steps.push([byHand, 'takes the mileposts into your branch']);
  if (refused) steps.push([`milepost proof ${refused.id}`, 'what was tried, and why it was not accepted']);
  if (newest && !refused) steps.push([`milepost proof ${newest.id}`, 'what was run to believe it']);
  if (newest) steps.push([`milepost undo ${newest.id}`, 'takes back that milepost alone']);
  return steps.slice(0, 2);
}
