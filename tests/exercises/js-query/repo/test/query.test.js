'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { parse } = require('../lib/query.js');

test('pairs are read', () => {
  assert.deepStrictEqual(parse('?a=1&b=2'), { a: '1', b: '2' });
});

test('signs are decoded', () => {
  assert.deepStrictEqual(parse('q=rock+%26+roll'), { q: 'rock & roll' });
});

test('a key that comes twice gives a list', () => {
  assert.deepStrictEqual(parse('a=1&a=2&a=3'), { a: ['1', '2', '3'] });
});

test('nothing is an empty object', () => {
  assert.deepStrictEqual(parse('?'), {});
});
