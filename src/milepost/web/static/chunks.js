// Rows of equal height, drawn only where they are near to be seen: ten thousand of them cost as much as a hundred.
import { html, useEffect, useRef, useState } from './libraries.js';

const ROWS = 80; // a chunk
export const ROW_PX = 20;
const NEAR = '800px 0px';

/** `draw(row, place)` draws one of the rows. */
export function Chunks({ rows, draw }) {
  const chunks = [];
  for (let at = 0; at < rows.length; at += ROWS) chunks.push(at);
  return chunks.map(at => html`<${Chunk} key=${at} rows=${rows} at=${at} draw=${draw} />`);
}

function Chunk({ rows, at, draw }) {
  const ref = useRef();
  const [near, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(seen => setNear(seen.at(-1).isIntersecting), { rootMargin: NEAR });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  const mine = Math.min(ROWS, rows.length - at);
  return html`<div class="chunk" ref=${ref} style=${{ height: `${mine * ROW_PX}px` }}>
    ${near && rows.slice(at, at + mine).map((row, place) => draw(row, at + place))}
  </div>`;
}

/** How many signs the longest row has, for the width of all: those that are not drawn have none. */
export function longest(rows, partsOf) {
  let most = 0;
  for (const row of rows) {
    let signs = 0;
    for (const [, text] of partsOf(row)) signs += text.length + 3 * (text.split('\t').length - 1);
    most = Math.max(most, signs);
  }
  return most;
}
