// Values like others: of the same type and shape, some letters, digits or places different. As `parts/alike.py`.
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const LONGEST = 4000, MOST_LEAVES = 300;
const LARGER = 1000, MOST_LARGER = 6; // in these trials texts and lists are longer, turn by turn
const TEXT_LENGTHS = [60, 256, 2000], LIST_LENGTHS = [30, 100, 1000];

const isLeaf = (value) => ["string", "number"].includes(typeof value);
const isPlain = (value) => value !== null && typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value));
const keyOf = (value) => `${typeof value}:${value}`;

// Takes note of values in trial 0, and replaces some or all of them in those that follow; the same twice is the same.
module.exports = class Alike {
  constructor(seed, words, leaves) {
    Object.assign(this, { seed, words, trial: 0, instead: new Map(), reshapes: null, listLength: -1, known: leaves.length > 0 });
    this.leaves = new Map(leaves.map((leaf) => [keyOf(leaf), leaf]));
  }

  begin(trial) {
    const draw = drawing(`${this.seed} ${trial}`);
    this.trial = trial;
    this.reshapes = trial % 4 === 3 ? draw : null;
    const leaves = [...this.leaves.values()];
    if (trial >= LARGER) return this.beginLarger(draw, (trial - LARGER) >> 1, trial % 2 === 1);
    if (!trial || leaves.length === 0) return;
    const way = trial % 4;
    const chosen = way === 0 ? leaves : way === 1 ? leaves.filter(() => draw() < 0.5) : [leaves[((trial >> 2) * 2 + way) % leaves.length]];
    this.instead = new Map(chosen.map((leaf) => [keyOf(leaf), this.other(leaf, draw, trial % 8 === 0)]));
  }

  // Lengthen all texts, or all lists: by others like them, so that nothing is a mere repetition.
  beginLarger(draw, size, ofLists) {
    Object.assign(this, { instead: new Map(), reshapes: draw, listLength: ofLists ? LIST_LENGTHS[size] : 0 });
    for (const leaf of ofLists ? [] : this.leaves.values()) {
      if (typeof leaf !== "string") continue;
      let longer = leaf;
      while (longer.length < Math.max(TEXT_LENGTHS[size], size ? 0 : 10 * leaf.length)) longer += text(leaf, draw, "");
      this.instead.set(keyOf(leaf), longer);
    }
  }

  value(value) {
    if (this.trial) return this.replaced(value);
    if (!this.known) this.note(value);
    return value;
  }

  note(value) {
    if (Array.isArray(value)) value.forEach((one) => this.note(one));
    else if (isPlain(value)) Object.values(value).forEach((one) => this.note(one));
    else if (isLeaf(value) && value !== "" && String(value).length < LONGEST && this.leaves.size < MOST_LEAVES)
      this.leaves.set(keyOf(value), value);
  }

  replaced(value) {
    if (Array.isArray(value)) return this.reshaped(value.map((one) => this.replaced(one)));
    if (isPlain(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [this.key(key), this.replaced(one)]));
    return isLeaf(value) ? this.instead.get(keyOf(value)) ?? value : value;
  }

  key(name) {
    return this.trial ? this.instead.get(keyOf(name)) ?? name : name;
  }

  reshaped(values) {
    const draw = this.reshapes;
    if (this.listLength >= 0) {
      const more = values.length ? Math.max(0, this.listLength - values.length) : 0;
      return [...values, ...Array.from({ length: more }, (_, at) => this.varied(values[at % values.length], draw))];
    }
    if (!draw || values.length < 2 || draw() < 0.3) return values;
    const at = Math.floor(draw() * values.length);
    return choice([[...values].reverse(), values.filter((_, place) => place !== at), [...values, values[at]]], draw);
  }

  // A further entry of a list, like one that it has.
  varied(value, draw) {
    if (Array.isArray(value)) return value.map((one) => this.varied(one, draw));
    if (isPlain(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.varied(one, draw)]));
    return isLeaf(value) && value !== "" ? this.other(value, draw, false) : value;
  }

  other(leaf, draw, wild) {
    const words = draw() < 0.25 ? this.words.filter((word) => typeof word === typeof leaf && word !== leaf) : [];
    if (words.length) {
      const word = choice(words, draw);
      return typeof leaf !== "string" || draw() < 0.5 ? word : withWord(leaf, word, draw);
    }
    if (typeof leaf === "number") {
      if (Number.isInteger(leaf)) return number(leaf, draw);
      return choice([leaf + 1, leaf - 1, leaf * 2, leaf + 0.5, number(Math.trunc(leaf), draw)], draw);
    }
    const pool = [...this.leaves.values()].filter((one) => typeof one === "string").join("");
    return wild ? [...leaf].map((each) => (/[a-z0-9]/i.test(each) ? sign(each, draw) : each)).join("") : text(leaf, draw, pool);
  }
};

module.exports.larger = Array.from({ length: MOST_LARGER }, (_, at) => LARGER + at);

function drawing(seed) {
  let state = 2166136261;
  for (const each of seed) state = Math.imul(state ^ each.codePointAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let next = Math.imul(state ^ (state >>> 15), 1 | state);
    next = (next + Math.imul(next ^ (next >>> 7), 61 | next)) ^ next;
    return ((next ^ (next >>> 14)) >>> 0) / 4294967296;
  };
}

const choice = (values, draw) => values[Math.floor(draw() * values.length)];

function number(value, draw) {
  const digits = [...String(Math.abs(value))];
  const at = Math.floor(draw() * digits.length);
  digits[at] = choice([..."123456789"].filter((digit) => digit !== digits[at]), draw);
  const other = Number(digits.join("")) * (value < 0 ? -1 : 1);
  const found = choice([value + 1, value - 1, value + 2, other, other, other + 1], draw);
  return Number.isFinite(found) ? found : value + 1;
}

// A sign replaced by another of its kind, left out, doubled, or swapped with the next; or the text twice.
function text(value, draw, pool) {
  const places = [...value].flatMap((each, at) => (/[\p{L}\p{N}]/u.test(each) ? [at] : []));
  if (places.length === 0) return choice([value + value, value + choice(LETTERS, draw), choice(LETTERS, draw) + value], draw);
  const at = choice(places, draw), way = Math.floor(draw() * 10);
  const known = [...pool].filter((each) => kind(each) !== "" && kind(each) === kind(value[at]) && each !== value[at]);
  if (way < 6) return value.slice(0, at) + (way < 3 && known.length ? choice(known, draw) : sign(value[at], draw)) + value.slice(at + 1);
  if (way === 6 && value.length > 1) return value.slice(0, at) + value.slice(at + 1);
  if (way === 7 && at + 1 < value.length) return value.slice(0, at) + value[at + 1] + value[at] + value.slice(at + 2);
  return way < 9 ? value.slice(0, at) + value[at] + value.slice(at) : value + value;
}

function withWord(value, word, draw) {
  const parts = value.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}]+/gu) ?? [];
  const places = parts.flatMap((part, at) => (/[\p{L}\p{N}]/u.test(part) ? [at] : []));
  const inner = word.replace(/[^\p{L}\p{N}_]/gu, "");
  if (!inner || places.length === 0) return word;
  parts[choice(places, draw)] = inner;
  return parts.join("");
}

const kind = (each) => (/\d/.test(each) ? "digit" : /\p{Lu}/u.test(each) ? "upper" : /\p{L}/u.test(each) ? "lower" : "");

function sign(each, draw) {
  const signs = { digit: "0123456789", upper: LETTERS.toUpperCase() }[kind(each)] ?? LETTERS;
  return choice([...signs].filter((one) => one !== each), draw);
}
