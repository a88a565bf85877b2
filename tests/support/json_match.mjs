// Partial matching of JSON values, with placeholders.
//
// An object pattern matches an object that has at least its members. An array pattern matches one of the same length,
// unless it holds "{{...}}": then its other elements must occur in that order, with anything between them. As strings:
//
//   "{{name}}"      the first time anything, which is kept under that name; afterwards the same again
//   "a {{name}} b"  the text with kept values filled in
//   "{{*}}"         anything, but there; null counts
//   "{{absent}}"    the member is not there
//   "{{/text/}}"    a string that the regular expression finds something in
//   "{{>= 71}}"     a number; also <=, <, >
import { isDeepStrictEqual } from 'node:util';

const kPlaceholder = /^\{\{(.*)\}\}$/s;
const kEmbedded = /\{\{([A-Za-z][A-Za-z0-9]*)\}\}/g;
const kName = /^[A-Za-z][A-Za-z0-9]*$/;
const kComparison = /^(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)$/;

const show = (value) => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
};

function compare(operator, left, right) {
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

/** `text` with every `{{name}}` replaced; throws for a name that is not bound. */
export function fillIn(text, bindings) {
  return text.replace(kEmbedded, (_, name) => {
    if (!(name in bindings)) throw new Error(`{{${name}}} is not known yet`);
    const value = bindings[name];
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** A JSON value with its placeholders replaced: a whole string by the value itself, an embedded one, or a key, by text. */
export function substitute(value, bindings) {
  if (typeof value === 'string') {
    const whole = kPlaceholder.exec(value);
    if (whole && kName.test(whole[1])) {
      if (!(whole[1] in bindings)) throw new Error(`{{${whole[1]}}} is not known yet`);
      return bindings[whole[1]];
    }
    return fillIn(value, bindings);
  }
  if (Array.isArray(value)) return value.map((each) => substitute(each, bindings));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [fillIn(key, bindings), substitute(each, bindings)]),
    );
  }
  return value;
}

function matchPlaceholder(word, value, path, bindings) {
  if (word === 'absent') return value === undefined ? null : `${path}: expected nothing, found ${show(value)}`;
  if (value === undefined) return `${path}: is absent`;
  if (word === '*') return null;
  if (word.startsWith('/') && word.endsWith('/') && word.length > 2) {
    const found = typeof value === 'string' && new RegExp(word.slice(1, -1), 'su').test(value);
    return found ? null : `${path}: ${show(value)} does not match ${word}`;
  }
  const comparison = kComparison.exec(word);
  if (comparison) {
    const fits = typeof value === 'number' && compare(comparison[1], value, Number(comparison[2]));
    return fits ? null : `${path}: ${show(value)} is not ${word}`;
  }
  if (!kName.test(word)) throw new Error(`{{${word}}} is no placeholder`);
  if (!(word in bindings)) {
    bindings[word] = value;
    return null;
  }
  return isDeepStrictEqual(bindings[word], value)
    ? null
    : `${path}: expected {{${word}}} = ${show(bindings[word])}, found ${show(value)}`;
}

/** Each wanted element in its order, anything between; tries later elements when an early choice does not work out. */
function matchSubsequence(wanted, values, path, bindings) {
  if (wanted.length === 0) return null;
  let reason = `${path}: expected ${show(wanted[0])} among ${values.length} elements`;
  for (let i = 0; i < values.length; ++i) {
    const tried = { ...bindings };
    const here = mismatch(wanted[0], values[i], `${path}[${i}]`, tried);
    if (here !== null) {
      reason = `${reason}\n      ${here}`;
      continue;
    }
    const rest = matchSubsequence(wanted.slice(1), values.slice(i + 1), path, tried);
    if (rest === null) {
      Object.assign(bindings, tried);
      return null;
    }
    reason = rest;
  }
  return reason;
}

function matchArray(pattern, value, path, bindings) {
  if (!Array.isArray(value)) return `${path}: expected an array, found ${show(value)}`;
  if (pattern.includes('{{...}}')) {
    return matchSubsequence(pattern.filter((each) => each !== '{{...}}'), value, path, bindings);
  }
  if (pattern.length !== value.length) {
    return `${path}: expected ${pattern.length} elements, found ${value.length}: ${show(value)}`;
  }
  for (let i = 0; i < pattern.length; ++i) {
    const reason = mismatch(pattern[i], value[i], `${path}[${i}]`, bindings);
    if (reason !== null) return reason;
  }
  return null;
}

function matchObject(pattern, value, path, bindings) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return `${path}: expected an object, found ${show(value)}`;
  }
  for (const [key, each] of Object.entries(pattern)) {
    const reason = mismatch(each, value[key], path === '' ? key : `${path}.${key}`, bindings);
    if (reason !== null) return reason;
  }
  return null;
}

/**
 * Why `value` does not match `pattern`, with the path of the place; null when it does. New names are added to
 * `bindings`, also on a mismatch: pass a copy, and keep it on success.
 */
export function mismatch(pattern, value, path = '', bindings = {}) {
  if (typeof pattern === 'string') {
    const whole = kPlaceholder.exec(pattern);
    if (whole && !whole[1].includes('}}')) return matchPlaceholder(whole[1], value, path, bindings);
    const text = fillIn(pattern, bindings);
    return value === text ? null : `${path}: expected ${show(text)}, found ${show(value)}`;
  }
  if (Array.isArray(pattern)) return matchArray(pattern, value, path, bindings);
  if (pattern !== null && typeof pattern === 'object') return matchObject(pattern, value, path, bindings);
  return pattern === value ? null : `${path}: expected ${show(pattern)}, found ${show(value)}`;
}
