// Holds Escrow's own messages to the type listing in protocol/README.md, so that the specification that ships and what
// the server sends cannot drift apart. Members that the listing does not name are faults, too.
import fs from 'node:fs';
import path from 'node:path';
import { projectRoot } from './repository.mjs';
import { readDeclarations, readType } from './type_listing.mjs';

/** LSP's types that the listing refers to, and names for what JSON has anyway. */
const kKnownTypes = readDeclarations(`
  type URI = string; type DocumentUri = string;
  interface Position { line: number; character: number }
  interface Range { start: Position; end: Position }
  interface TextEdit { range: Range; newText: string }
  interface WorkspaceEdit { changes?: Record<string, TextEdit[]>; documentChanges?: unknown[] }
  type ProgressToken = number | string;
`);

const kScalars = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  unknown: () => true,
  any: () => true,
};

const show = (value) => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};

/** The code blocks of a Markdown text that are in TypeScript. */
function codeBlocks(markdown) {
  return [...markdown.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```/gm)].map((match) => match[1]);
}

/** Brackets opened minus closed, outside strings. */
function depthOf(line) {
  const bare = line.replace(/"[^"]*"/g, '').replace(/\/\/.*$/, '');
  return (bare.match(/[{[(]/g) ?? []).length - (bare.match(/[}\])]/g) ?? []).length;
}

/** Splits a listing into its statements: each starts at the margin and ends before the next that does. */
function statements(text) {
  const found = [];
  let depth = 0;
  for (const raw of text.split('\n')) {
    const line = raw.replace(/(^|\s)\/\/.*$/, '$1').trimEnd();
    if (line.trim() === '') continue;
    const starts = depth === 0 && /^[A-Za-z]/.test(line);
    if (starts || found.length === 0) found.push(line);
    else found[found.length - 1] += `\n${line}`;
    depth += depthOf(line);
  }
  return found;
}

/** `escrow/a/b Params → Result`, or `note escrow/a/b Params`. */
const kMethod = /^(note\s+|notification\s+|request\s+)?(escrow\/[\w/]+)\s*([\s\S]*)$/;

export class EscrowShapes {
  #types;
  #methods = new Map(); // method → {result?, params?}

  constructor(markdown) {
    const declarations = [];
    const methods = [];
    for (const statement of codeBlocks(markdown).flatMap(statements)) {
      const method = kMethod.exec(statement);
      if (method) methods.push(method);
      else if (/^(export\s+)?(type|interface)\s/.test(statement)) declarations.push(statement);
    }
    this.#types = new Map([...kKnownTypes, ...readDeclarations(declarations.join('\n'))]);
    for (const [, note, name, rest] of methods) this.#methods.set(name, this.#readMethod(note, rest));
  }

  #readMethod(note, text) {
    const [params, result] = text.split(/→|=>/).map((part) => part.trim());
    if (note?.startsWith('note') || result === undefined) return { params: params === '' ? undefined : readType(params) };
    return { result: readType(result) };
  }

  /** Names of the methods in the listing. */
  get methods() {
    return [...this.#methods.keys()];
  }

  /** Why `value` is not the `result` or `params` of the method; empty when it is. */
  faults(method, part, value) {
    const type = this.#methods.get(method)?.[part];
    if (type === undefined) return [`the listing in protocol/README.md has no ${part} of it`];
    return [...this.#check(type, value, part)];
  }

  *#check(type, value, at) {
    switch (type.kind) {
      case 'literal':
        if (value !== type.value) yield `${at}: expected ${show(type.value)}, found ${show(value)}`;
        return;
      case 'name':
        return yield* this.#checkNamed(type.name, value, at);
      case 'array':
        if (!Array.isArray(value)) return yield `${at}: expected an array, found ${show(value)}`;
        for (const [i, each] of value.entries()) yield* this.#check(type.type, each, `${at}[${i}]`);
        return;
      case 'tuple':
        if (!Array.isArray(value) || value.length !== type.types.length) return yield `${at}: expected a tuple`;
        for (const [i, each] of type.types.entries()) yield* this.#check(each, value[i], `${at}[${i}]`);
        return;
      case 'map':
        if (!kScalars.object(value)) return yield `${at}: expected an object, found ${show(value)}`;
        for (const [key, each] of Object.entries(value)) yield* this.#check(type.type, each, `${at}.${key}`);
        return;
      case 'union':
        return yield* this.#checkUnion(type.types, value, at);
      case 'and':
      case 'object':
        return yield* this.#checkObject(this.#membersOf(type), value, at);
    }
  }

  *#checkNamed(name, value, at) {
    const type = this.#types.get(name);
    if (type) return yield* this.#check(type, value, at);
    const scalar = kScalars[name];
    if (!scalar) throw new Error(`protocol/README.md: ${name} is not declared in the listing`);
    if (!scalar(value)) yield `${at}: expected ${name}, found ${show(value)}`;
  }

  /** The alternative with the fewest faults is the one that was meant. */
  *#checkUnion(types, value, at) {
    let best = null;
    for (const type of types) {
      const faults = [...this.#check(type, value, at)];
      if (faults.length === 0) return;
      if (best === null || faults.length < best.length) best = faults;
    }
    yield* best;
  }

  *#checkObject(members, value, at) {
    if (!kScalars.object(value)) return yield `${at}: expected an object, found ${show(value)}`;
    for (const [name, { type, optional }] of Object.entries(members)) {
      if (value[name] !== undefined) yield* this.#check(type, value[name], `${at}.${name}`);
      else if (!optional) yield `${at}.${name}: is missing`;
    }
    for (const name of Object.keys(value)) {
      if (name in members) continue;
      if (!members['*']) yield `${at}.${name}: is not in the listing`;
      else yield* this.#check(members['*'].type, value[name], `${at}.${name}`);
    }
  }

  /** Members of an object type, of an intersection, or of a name for one. */
  #membersOf(type) {
    if (type.kind === 'object') return type.members;
    if (type.kind === 'and') return Object.assign({}, ...type.types.map((each) => this.#membersOf(each)));
    if (type.kind === 'name' && this.#types.has(type.name)) return this.#membersOf(this.#types.get(type.name));
    throw new Error('protocol/README.md: only objects can be joined by &');
  }
}

/** The shapes of the specification in this checkout. */
export function readEscrowShapes(file = path.join(projectRoot, 'protocol', 'README.md')) {
  return new EscrowShapes(fs.readFileSync(file, 'utf8'));
}
