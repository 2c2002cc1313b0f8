// What is in lines of words: commands that a reader may want to copy, and what a diff adds and removes. Pure.

const WORD = String.raw`'[^']*'|"[^"]*"`;
const COMMANDS = [
  'milepost (?:accept|approve|gates|init|log|plan|proof|reject|report|resume|retry|run|status)',
  'milepost (?:stop|together|undo|verify|web)',
  'git (?:add|branch|checkout|commit|diff|fetch|init|merge|push|restore|stash|update-ref)',
].join('|');
const ARGUMENTS = [
  `(?:--agent|--task|-m) (?:${WORD}|[^\\s;,]+)`,
  `--(?:[a-z][\\w-]*)?|-[a-z]`,
  `\\d[\\w.]*\\w|\\d`, // a task
  `[\\w.~-]*[./:][\\w./:~-]*\\w`, // a file, a branch
  WORD,
].join('|');
const ONE = `(?:${COMMANDS})(?![\\w-])(?: (?:${ARGUMENTS})(?![\\w]))*`;
const COMMAND = new RegExp(`(?<![\\w./\`'"-])(${ONE}(?: && ${ONE})*)`);

/** A line as words and commands by turns: words first. */
export const commandsIn = line => line.split(COMMAND);

/** A word as a shell takes it for itself. */
export const quoted = word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const SIGNS = { '+': 'plus', '-': 'minus' };

/** What each line of a diff is: plus, minus, soft, or nothing. Names of files are neither added nor removed. */
export function tones(lines) {
  let [old, now] = [0, 0]; // lines that the hunk still has
  return lines.map(line => {
    const hunk = HUNK.exec(line);
    if (hunk) [old, now] = [hunk[1] ?? 1, hunk[2] ?? 1].map(Number);
    if (hunk) return 'soft';
    const inside = old > 0 || now > 0;
    if (line[0] !== '+' && line[0] !== '\\') old -= 1;
    if (line[0] !== '-' && line[0] !== '\\') now -= 1;
    if (!inside && /^(?:---|\+\+\+) /.test(line)) return 'soft';
    return SIGNS[line[0]] ?? null;
  });
}

const ANY_COMMIT = /^commit [0-9a-f]{7,64}$/;
const [WAS, NOW] = ['  was: ', '  now: '];

/** What is shown of held work, taken apart: its questions, each with what was and is expected, and its change. */
export function heldParts(shown) {
  const lines = shown.replace(/\n$/, '').split('\n');
  const start = lines.findIndex(line => ANY_COMMIT.test(line));
  const questions = [];
  for (const line of start < 0 ? [] : lines.slice(0, start)) {
    const last = questions.at(-1);
    if (last && line.startsWith(WAS)) last.before = line.slice(WAS.length);
    else if (last && line.startsWith(NOW)) last.after = line.slice(NOW.length);
    else if (line) questions.push({ text: line, place: '', before: '', after: '' });
  }
  return { questions, change: lines.slice(Math.max(0, start)).join('\n') };
}
