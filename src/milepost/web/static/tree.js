// Files as a tree, and the tree as rows: those of folders that are open. Pure.

export const CHANGES = { added: ['+', 'added'], changed: ['~', 'changed'], removed: ['−', 'removed'] };

/** A tree of [{path, change}]; each folder knows how many changed files are below it. */
export function grow(files) {
  const root = folder('', '');
  for (const file of files) {
    const names = file.path.split('/');
    let here = root;
    here.changed += file.change ? 1 : 0;
    for (const name of names.slice(0, -1)) {
      if (!here.folders.has(name)) here.folders.set(name, folder(name, here.path ? `${here.path}/${name}` : name));
      here = here.folders.get(name);
      here.changed += file.change ? 1 : 0;
    }
    here.files.push({ name: names.at(-1), path: file.path, change: file.change });
  }
  return root;
}

const folder = (name, path) => ({ name, path, folders: new Map(), files: [], changed: 0 });
const byName = (one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);

/** The rows that are seen, folders before files; `isOpen` says it of a folder. */
export function rowsOf(root, isOpen, level = 1) {
  const folders = [...root.folders.values()].sort(byName);
  const size = folders.length + root.files.length;
  const rows = [];
  folders.forEach((one, at) => {
    const open = isOpen(one);
    const { name, path, changed } = one;
    rows.push({ isFolder: true, name, path, changed, change: '', open, level, size, at: at + 1 });
    if (open) for (const row of rowsOf(one, isOpen, level + 1)) rows.push(row);
  });
  [...root.files].sort(byName).forEach((file, at) => {
    rows.push({ isFolder: false, ...file, changed: 0, open: false, level, size, at: folders.length + at + 1 });
  });
  return rows;
}

/** Which files match all the words of a filter. */
export function matching(files, words, onlyChanged) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return files.filter(file => {
    if (onlyChanged && !file.change) return false;
    const path = file.path.toLowerCase();
    return wanted.every(word => path.includes(word));
  });
}

/** Where the arrow keys lead from a row: {to} another row, or {toggle} a folder. */
export function step(rows, at, key) {
  const row = rows[at];
  if (key === 'ArrowDown') return { to: Math.min(at + 1, rows.length - 1) };
  if (key === 'ArrowUp') return { to: Math.max(at - 1, 0) };
  if (key === 'Home') return { to: 0 };
  if (key === 'End') return { to: rows.length - 1 };
  if (key === 'ArrowRight') return inwards(rows, at);
  if (key === 'ArrowLeft') return row?.isFolder && row.open ? { toggle: row } : { to: parentOf(rows, at) };
  return null;
}

function inwards(rows, at) {
  const row = rows[at];
  if (!row?.isFolder) return {};
  return row.open ? { to: rows[at + 1]?.level > row.level ? at + 1 : at } : { toggle: row };
}

function parentOf(rows, at) {
  for (let place = at - 1; place >= 0; place -= 1) if (rows[place].level < rows[at].level) return place;
  return at;
}

/** `3 added, 2 changed` */
export function changedWords(files) {
  const countOf = change => files.filter(file => file.change === change).length;
  const counts = Object.keys(CHANGES).map(change => [countOf(change), CHANGES[change][1]]);
  return counts.filter(([count]) => count).map(([count, word]) => `${count.toLocaleString('en')} ${word}`).join(', ');
}
