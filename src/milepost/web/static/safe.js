// Text from a log, a file or an agent, as pieces that can be shown: colours are kept, what would act is taken out, what
// cannot be seen is made visible. Pieces are [class, text]; nothing here is ever HTML.

const LONGEST = 2000;

// Escape sequences: colours (captured), other CSI, OSC, DCS and its like with their text, and the short ones.
const ESCAPES = new RegExp(
  [
    '\\x1b\\[([0-9;:]*)m',
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?',
    '(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c]*(?:\\x07|\\x1b\\\\|\\x9c)?',
    '(?:\\x1b[PX^_]|[\\x90\\x98\\x9e\\x9f])[^\\x1b\\x9c]*(?:\\x1b\\\\|\\x9c)?',
    '\\x1b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);
// Control characters but tab, soft hyphen, directions and their isolates, what has no width, variation and tags.
const UNSEEN = new RegExp(
  '[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
    '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]|' +
    '[\\u{e0000}-\\u{e0fff}]|[\\ud800-\\udfff]',
  'gu',
);
const FIRST_OF_PICTURES = 0x2400; // pictures of the control characters, in their order

/** The name of a character that cannot be seen: ␀, U+202E. */
function named(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCharCode(FIRST_OF_PICTURES + code);
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function reveal(style, text, pieces) {
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > at) pieces.push([style, text.slice(at, match.index)]);
    pieces.push(['unseen', named(match[0])]);
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push([style, text.slice(at)]);
}

/** Text of a file or a name, with what cannot be seen made visible. */
export function shown(text) {
  const pieces = [];
  reveal('', text, pieces);
  return pieces;
}

const PLAIN = { colour: '', bold: false, dim: false, italic: false, underlined: false };
const SWITCHES = {
  1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underlined: true }, 22: { bold: false, dim: false },
  23: { italic: false }, 24: { underlined: false }, 39: { colour: '' },
};

/** The colour of 38;5;N or 38;2;R;G;B: one of the eight, or none that we would know to show. */
const indexed = number => (number < 16 ? `colour-${number % 8}` : '');

function restyle(codes, before) {
  const numbers = codes === '' ? [0] : codes.split(/[;:]/).map(Number);
  let style = before;
  for (let place = 0; place < numbers.length; place += 1) {
    const code = numbers[place];
    if (code === 0) style = PLAIN;
    else if (code in SWITCHES) style = { ...style, ...SWITCHES[code] };
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style = { ...style, colour: indexed(code % 10) };
    else if (code === 38 || code === 48) {
      const ofPalette = numbers[place + 1] === 5;
      if (code === 38) style = { ...style, colour: ofPalette ? indexed(numbers[place + 2]) : '' };
      place += ofPalette ? 2 : 4;
    }
  }
  return style;
}

const classes = ({ colour, ...switches }) =>
  [colour, ...Object.keys(switches).filter(name => switches[name])].filter(Boolean).join(' ');

/** What a terminal would show of a line that goes back to its start: what was written last. */
function lastWritten(line) {
  const parts = line.split('\r').filter((part, place, all) => part !== '' || place === all.length - 1);
  return parts.length > 1 && parts.at(-1) === '' ? parts.at(-2) : parts.at(-1) ?? '';
}

/** A line of a log as pieces. */
export function pieces(line) {
  const whole = lastWritten(line);
  const text = whole.slice(0, LONGEST);
  const found = [];
  let style = PLAIN;
  let at = 0;
  for (const match of text.matchAll(ESCAPES)) {
    if (match.index > at) reveal(classes(style), text.slice(at, match.index), found);
    at = match.index + match[0].length;
    if (match[1] !== undefined) style = restyle(match[1], style);
  }
  if (at < text.length) reveal(classes(style), text.slice(at), found);
  if (whole.length > LONGEST) {
    found.push(['cut', `… ${(whole.length - LONGEST).toLocaleString('en')} more characters; copy gives all`]);
  }
  return found;
}

/** A line of a log without colours and without what would act: for search and copy. */
export const plain = line => lastWritten(line).replace(ESCAPES, '');
