// The conversation in rows: steps that follow each other are one, attempts have headings. Pure.

const STEPS = new Set(['tool', 'command']);
const MOST_ROWS = 1000; // whatever is held: a page with more of them is slow

const laneOf = entry => (entry.task ? `${entry.task}/${entry.attempt}` : '');
const isUntold = entry => entry.kind === 'stage' && entry.stage !== 'act';

/**
 * The last rows of the conversation about a task, or about all of them: at most `most`, or all since an entry that is
 * `held`. Gives {rows, earlier}; `earlier` counts the entries before those rows.
 */
export function fold(talk, task, { most, held = Infinity }) {
  const groups = [];
  let at = talk.length - 1;
  for (; at >= 0; at -= 1) {
    const entry = talk[at];
    if ((task && entry.task !== task) || isUntold(entry)) continue;
    const newest = groups.at(-1);
    if (newest && belongs(entry, newest[0])) newest.unshift(entry);
    else if (groups.length < (entry.seq >= held ? MOST_ROWS : most)) groups.push([entry]);
    else break;
  }
  const rows = headed(groups.reverse(), !task);
  return { rows, earlier: counted(talk, at, task) };
}

/** How many entries about a task are newer than one. */
export function newer(talk, task, seq) {
  let count = 0;
  for (let at = talk.length - 1; at >= 0 && talk[at].seq > seq; at -= 1) {
    if ((!task || talk[at].task === task) && !isUntold(talk[at])) count += 1;
  }
  return count;
}

const belongs = (entry, next) => STEPS.has(entry.kind) && STEPS.has(next.kind) && laneOf(entry) === laneOf(next);

function counted(talk, upTo, task) {
  let count = 0;
  for (let at = 0; at <= upTo; at += 1) if ((!task || talk[at].task === task) && !isUntold(talk[at])) count += 1;
  return count;
}

const kindOf = entry => (STEPS.has(entry.kind) ? 'steps' : entry.kind);

/** Rows with a heading wherever another task or attempt begins to speak. */
function headed(groups, whole) {
  const rows = [];
  let heading = null;
  for (const entries of groups) {
    const [first] = entries;
    const isNew = isElsewhere(first, heading?.first) && (whole || first.attempt > 0);
    if (isNew) rows.push((heading = { kind: 'lane', key: `l${first.seq}`, first, begins: false }));
    if (first.kind === 'stage') Object.assign(heading, { first, begins: true });
    else rows.push({ kind: kindOf(first), key: `${first.kind}${first.seq}`, first, entries });
  }
  return rows;
}

/** Whether an entry belongs under another heading; one without an attempt is about its task as a whole. */
function isElsewhere(entry, under) {
  if (!entry.task) return false;
  if (!under || entry.task !== under.task) return true;
  return entry.attempt > 0 && entry.attempt !== under.attempt;
}
