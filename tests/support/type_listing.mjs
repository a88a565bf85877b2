// Reads the type listing of protocol/README.md: TypeScript's type syntax as far as a wire format needs it.
//
//     type Lane = "low" | "medium" | "high";
//     interface Signal { rule: string; range?: Range }
//
// A type becomes a plain value, by `kind`: `name`, `literal`, `union`, `and`, `array`, `tuple`, `map`, `object`
// (`members: {name: {type, optional}}`).

const kToken = /\s*(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/|([A-Za-z_$][\w$]*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d+)|(\.\.\.|[{}[\]()<>|&:;,?=]))/y;

function tokenize(text) {
  const tokens = [];
  kToken.lastIndex = 0;
  while (kToken.lastIndex < text.length) {
    const at = kToken.lastIndex;
    const match = kToken.exec(text);
    if (!match) {
      if (text.slice(at).trim() === '') break;
      throw new Error(`type listing: cannot read ${JSON.stringify(text.slice(at, at + 40))}`);
    }
    const [whole, name, string, number, mark] = match;
    if (whole === '') break;
    if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (string !== undefined) tokens.push({ kind: 'literal', text: string, value: string.slice(1, -1) });
    else if (number !== undefined) tokens.push({ kind: 'literal', text: number, value: Number(number) });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
  }
  return tokens;
}

class TypeReader {
  #tokens;
  #at = 0;

  constructor(text) {
    this.#tokens = tokenize(text);
  }

  get done() {
    return this.#at >= this.#tokens.length;
  }

  #peek(text) {
    return this.#tokens[this.#at]?.text === text;
  }

  take(text) {
    if (!this.#peek(text)) return false;
    ++this.#at;
    return true;
  }

  expect(text) {
    if (!this.take(text)) throw new Error(`type listing: expected ${text} before ${this.#near()}`);
  }

  #near() {
    return this.#tokens.slice(this.#at, this.#at + 8).map((token) => token.text).join(' ') || 'its end';
  }

  name() {
    const token = this.#tokens[this.#at++];
    if (token?.kind !== 'name') throw new Error(`type listing: expected a name, found ${token?.text ?? 'the end'}`);
    return token.text;
  }

  type() {
    this.take('|');
    const types = [this.#intersection()];
    while (this.take('|')) types.push(this.#intersection());
    return types.length === 1 ? types[0] : { kind: 'union', types };
  }

  #intersection() {
    const types = [this.#postfix()];
    while (this.take('&')) types.push(this.#postfix());
    return types.length === 1 ? types[0] : { kind: 'and', types };
  }

  #postfix() {
    let type = this.#primary();
    while (this.#peek('[') && this.#tokens[this.#at + 1]?.text === ']') {
      this.#at += 2;
      type = { kind: 'array', type };
    }
    return type;
  }

  #primary() {
    if (this.take('(')) {
      const type = this.type();
      this.expect(')');
      return type;
    }
    if (this.#peek('{')) return this.object();
    if (this.take('[')) return this.#tuple();
    const token = this.#tokens[this.#at];
    if (token?.kind === 'literal') {
      ++this.#at;
      return { kind: 'literal', value: token.value };
    }
    return this.#named(this.name());
  }

  #tuple() {
    const types = [];
    while (!this.take(']')) {
      types.push(this.type());
      this.take(',');
    }
    return { kind: 'tuple', types };
  }

  #named(name) {
    if (!this.take('<')) {
      if (name === 'null') return { kind: 'literal', value: null };
      if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' };
      return { kind: 'name', name };
    }
    const types = [this.type()];
    while (this.take(',')) types.push(this.type());
    this.expect('>');
    if (name === 'Record') return { kind: 'map', type: types[1] };
    if (name === 'Array') return { kind: 'array', type: types[0] };
    throw new Error(`type listing: there is no ${name}<…>`);
  }

  object() {
    this.expect('{');
    const members = {};
    while (!this.take('}')) {
      if (this.take('[')) {
        this.#indexed(members);
        continue;
      }
      const name = this.#memberName();
      const optional = this.take('?');
      // `{ agentId; token }` in a summary: a string unless said otherwise.
      const type = this.take(':') ? this.type() : { kind: 'name', name: 'unknown' };
      members[name] = { type, optional };
      if (!this.take(';')) this.take(',');
    }
    return { kind: 'object', members };
  }

  #memberName() {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'literal') return this.name();
    ++this.#at;
    return token.value;
  }

  /** `[key: string]: T` */
  #indexed(members) {
    this.name();
    this.expect(':');
    this.type();
    this.expect(']');
    this.expect(':');
    Object.defineProperty(members, '*', { value: { type: this.type(), optional: true }, enumerable: false });
    if (!this.take(';')) this.take(',');
  }
}

/** One type. */
export function readType(text) {
  const reader = new TypeReader(text);
  const type = reader.type();
  reader.take(';');
  if (!reader.done) throw new Error(`type listing: something follows the type in ${JSON.stringify(text.slice(0, 80))}`);
  return type;
}

/** `type` and `interface` declarations: a Map from name to type. */
export function readDeclarations(text) {
  const reader = new TypeReader(text);
  const types = new Map();
  while (!reader.done) {
    reader.take('export');
    if (reader.take('interface')) {
      const name = reader.name();
      const parents = [];
      if (reader.take('extends')) {
        do parents.push({ kind: 'name', name: reader.name() });
        while (reader.take(','));
      }
      const own = reader.object();
      types.set(name, parents.length > 0 ? { kind: 'and', types: [...parents, own] } : own);
    } else {
      reader.expect('type');
      const name = reader.name();
      reader.expect('=');
      types.set(name, reader.type());
    }
    while (reader.take(';'));
  }
  return types;
}
