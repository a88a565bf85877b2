// What the demo prints: a title for each part of the story, and one line for each hop.

const kCodes = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' };

/** Colours of a verdict by how it went for the agent. */
const kTones = { good: 'green', bad: 'red', waiting: 'yellow', plain: 'cyan' };

function cut(text, width) {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** Lines of at most `width` characters, broken between words; a longer word stands alone. */
function wrap(text, width) {
  const lines = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function duration(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return `${Math.round(ms)} ms`;
}

export class Account {
  #stream;
  #colour;
  #width;
  #textWidth;
  #verdictWidth = 28;
  #part = 0;
  #hops = 0;
  #began = performance.now();

  /** Colours only on a terminal, and never with NO_COLOR (no-color.org). */
  constructor(stream = process.stdout, env = process.env) {
    this.#stream = stream;
    this.#colour = Boolean(stream.isTTY) && !env.NO_COLOR && env.TERM !== 'dumb';
    this.#width = Math.min(Math.max(stream.columns ?? 100, 80), 110);
    this.#textWidth = this.#width - this.#verdictWidth - 21;
  }

  #paint(colour, text) {
    return this.#colour ? `\x1b[${kCodes[colour]}m${text}\x1b[0m` : text;
  }

  #line(text = '') {
    this.#stream.write(`${text}\n`);
  }

  head(title, lines) {
    this.#line(this.#paint('bold', title));
    for (const line of lines) this.#line(this.#paint('dim', line));
  }

  part(title) {
    this.#line(`\n${this.#paint('bold', `${++this.#part}. ${title}`)}`);
  }

  /** One hop: who did what, what came of it, and how long it took. */
  hop(who, what, { verdict = '', tone = 'plain' }, ms) {
    ++this.#hops;
    const [first, ...more] = wrap(what, this.#textWidth);
    const text = cut(first, this.#textWidth).padEnd(this.#textWidth);
    const result = this.#paint(kTones[tone], cut(verdict, this.#verdictWidth).padEnd(this.#verdictWidth));
    this.#line(`   ${this.#paint('dim', who.padEnd(7))} ${text} ${result} ${this.#paint('dim', duration(ms).padStart(7))}`);
    for (const line of more) this.#line(`           ${line}`);
  }

  /** What a person would want to read below a hop. */
  note(text) {
    for (const line of wrap(text, this.#width - 11)) this.#line(`           ${this.#paint('dim', line)}`);
  }

  failed(who, what, reason) {
    this.#line(`   ${this.#paint('red', `✗ ${who}: ${what}`)}`);
    for (const line of reason.split('\n')) this.#line(`     ${line}`);
  }

  end(text) {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    this.#line(`\n${this.#paint('green', '✓')} ${this.#paint('bold', `${this.#hops} hops as they should be`)} in ${seconds} s. ${text}`);
  }
}
