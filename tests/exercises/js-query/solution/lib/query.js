'use strict';

const plain = (text) => decodeURIComponent(text.replace(/\+/g, ' '));

/** The pairs of a query string as an object; a key that comes twice has a list. */
function parse(text) {
  const pairs = {};
  for (const part of text.replace(/^\?/, '').split('&')) {
    if (!part) continue;
    const at = part.indexOf('=');
    const key = plain(at < 0 ? part : part.slice(0, at));
    const value = at < 0 ? '' : plain(part.slice(at + 1));
    pairs[key] = key in pairs ? [].concat(pairs[key], value) : value;
  }
  return pairs;
}

module.exports = { parse };
