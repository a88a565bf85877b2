// Holds Escrow's own messages to their types, so that the specification that ships and what the server sends cannot
// drift apart. Members that no type names are faults, too.
import fs from 'node:fs';
import path from 'node:path';
import { kEscrowListing } from './escrow_listing.mjs';
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

/** The code blocks of a Markdown text: `{words, text}`, where the words are those behind the fence. */
export function codeBlocks(markdown) {
  return [...markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```/gm)].map(([, words, text]) => ({ words: words.trim(), text }));
}

/** `result METHOD TYPE` or `params METHOD TYPE`, up to the next such line. */
const kMessage = /^(result|params) (escrow\/[\w/]+)\s+([\s\S]*?)(?=^(?:result|params) |(?![\s\S]))/gm;

export class EscrowShapes {
  #types;
  #messages = new Map(); // `result escrow/…` → type

  /** `declarations`, of the specification, win over the listing's. */
  constructor(listing, declarations = '') {
    for (const [, part, method, type] of listing.matchAll(kMessage)) this.#messages.set(`${part} ${method}`, readType(type));
    this.#types = new Map([
      ...kKnownTypes,
      ...readDeclarations(listing.replace(kMessage, '')),
      ...readDeclarations(declarations),
    ]);
  }

  /** Why `value` is not the `result` or `params` of the method; empty when it is. */
  faults(method, part, value) {
    const type = this.#messages.get(`${part} ${method}`);
    if (type === undefined) return [`tests/support/escrow_listing.mjs has no ${part} of it`];
    return [...this.#check(type, value, part)];
  }

  /** Why `value` is not of the type of that name. */
  typeFaults(name, value) {
    return [...this.#checkNamed(name, value, name)];
  }

  /** True if the listing has that `result` or `params`. */
  knows(method, part) {
    return this.#messages.has(`${part} ${method}`);
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
    if (!scalar) throw new Error(`${name} is declared neither in protocol/README.md nor in the listing`);
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
    throw new Error('only objects can be joined by &');
  }
}

export const kSpecification = path.join(projectRoot, 'protocol', 'README.md');

/** The shapes of this checkout. */
export function readEscrowShapes() {
  const blocks = codeBlocks(fs.readFileSync(kSpecification, 'utf8'));
  const declarations = blocks.filter(({ words }) => words === 'ts').map(({ text }) => text);
  return new EscrowShapes(kEscrowListing, declarations.join('\n'));
}
