// Numbers as people read them, in the words of the command line. Times are seconds.

export const money = usd => `$${usd > 0 && usd < 0.005 ? usd.toFixed(4) : usd.toFixed(2)}`;

export function span(seconds) {
  const whole = Math.max(0, seconds);
  if (whole < 10) return `${whole.toFixed(1)} s`;
  if (whole < 60) return `${Math.round(whole)} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} m ${pad(Math.floor(whole % 60))} s`;
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
}

/** The same for a clock that ticks: in whole seconds. */
export const ticking = seconds => (seconds < 60 ? `${Math.floor(Math.max(0, seconds))} s` : span(seconds));

const pad = number => String(number).padStart(2, '0');

/** 14:02:07, in the reader's own time zone. */
export function clock(at) {
  const time = new Date(at * 1000);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(pad).join(':');
}

export const clockToMs = at => `${clock(at)}.${String(Math.floor((at % 1) * 1000)).padStart(3, '0')}`;

export const many = (count, one, more = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : more}`;

/** 950, 12 k, 3.4 M */
export function short(count) {
  if (count < 1000) return String(count);
  if (count < 1e6) return `${(count / 1e3).toFixed(count < 1e4 ? 1 : 0)} k`;
  return `${(count / 1e6).toFixed(1)} M`;
}

export const commit = name => name.slice(0, 7);

/** What is said of a task with its id before it, unless it begins with it, as in "May 2.1 begin?". */
export const withId = (text, id) => (text.split(' ', 2).includes(id) ? text : `${id} ${text}`);

/** What is said of a task, for where its id stands already. */
export const withoutId = (text, id) => (id && text.startsWith(`${id} `) ? text.slice(id.length + 1) : text);

/** Lines as one. */
export const inOneLine = text => text.split('\n').join(' · ');
