'use strict';

/** The pairs of a query string as an object. */
function parse(text) {
  const pairs = {};
  for (const part of text.replace(/^\?/, '').split('&')) {
    if (!part) continue;
    const [key, value = ''] = part.split('=');
    pairs[key] = value;
  }
  return pairs;
}

module.exports = { parse };
