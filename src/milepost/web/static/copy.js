// Text into the clipboard.
import { tell } from './store.js';

/** Copy a text; where the browser does not let a page do so, the person is told the text. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell(`copied: ${text}`);
  } catch {
    tell(`not copied, the browser refuses: ${text}`);
  }
}
