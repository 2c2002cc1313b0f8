// An answer of the server that is asked for anew as long as it is shown.
import { useEffect, useState } from './libraries.js';
import { ask } from './ask.js';

/**
 * {answer, late}: undefined at first, null where there never was one; `late` where the newest question had no answer:
 * what is given is an older one.
 */
export function usePolled(path, everyMs, words = {}) {
  const [found, take] = useState({ answer: undefined, late: false });
  const query = JSON.stringify(words);
  useEffect(() => {
    let timer;
    let gone = false;
    const look = async () => {
      const answer = await ask(path, JSON.parse(query));
      if (gone) return;
      take(before => ({ answer: answer ?? before.answer ?? null, late: answer === null }));
      timer = setTimeout(look, everyMs);
    };
    look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [path, everyMs, query]);
  return found;
}
