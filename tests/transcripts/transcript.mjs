// Reads a transcript: a session as text. README.md in this folder describes the format.
import fs from 'node:fs';

/** Directives whose block is text, kept as it stands. */
const kTextDirectives = new Set(['file', 'text', 'disk', 'user-policy']);
const kDirectives = new Set([
  ...kTextDirectives,
  'raw',
  'commit',
  'git',
  'no-file',
  'digest',
  'choose',
  'editing',
  'close-input',
  'exit',
]);
const kExpectation = /^#\s*(CHECK|NEVER):\s?(.*)$/;

class TranscriptError extends Error {
  constructor(file, line, reason) {
    super(`${file}:${line}: ${reason}`);
  }
}

function splitBlocks(text) {
  const blocks = [];
  let lines = [];
  let first = 1;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trimEnd() !== '---') {
      lines.push(line);
      continue;
    }
    blocks.push({ first, lines });
    lines = [];
    first = index + 2;
  }
  blocks.push({ first, lines });
  return blocks;
}

function parseJson(text) {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error };
  }
}

/** JSON values one after the other, each over one or more whole lines. */
function readMessages(body, file) {
  const messages = [];
  let text = '';
  let read = {};
  let start = body[0].line;
  for (const line of body) {
    if (text === '') start = line.line;
    text += `${line.text}\n`;
    read = parseJson(text);
    if (read.error) continue;
    messages.push(read.value);
    text = '';
  }
  if (text !== '') throw new TranscriptError(file, start, read.error.message);
  return messages;
}

/** A block without its comments; its expectations, whose JSON may run over several comment lines. */
function readComments({ first, lines }, file) {
  const expectations = [];
  const rest = [];
  for (let i = 0; i < lines.length; ++i) {
    const start = kExpectation.exec(lines[i]);
    if (!start) {
      if (!lines[i].startsWith('#')) rest.push({ line: first + i, text: lines[i] });
      continue;
    }
    const line = first + i;
    let text = start[2];
    let read = parseJson(text);
    while (read.error && lines[i + 1]?.startsWith('#') && !kExpectation.test(lines[i + 1])) {
      text += `\n${lines[++i].replace(/^#\s?/, '')}`;
      read = parseJson(text);
    }
    if (read.error) throw new TranscriptError(file, line, `${start[1]}: ${read.error.message}`);
    expectations.push({ kind: start[1], pattern: read.value, line });
  }
  return { rest, expectations };
}

function readDirective(line, file) {
  const [name, ...rest] = line.text.slice(1).trim().split(/\s+/);
  if (!kDirectives.has(name)) throw new TranscriptError(file, line.line, `there is no directive !${name}`);
  return { kind: name, argument: rest.join(' '), line: line.line };
}

/** `!file NAME` and the like: everything below the directive is its text. Comments may stand above. */
function readTextBlock(block, at, file) {
  const step = readDirective({ text: block.lines[at], line: block.first + at }, file);
  const content = block.lines.slice(at + 1);
  return { ...step, content: content.map((line) => `${line}\n`).join(''), expectations: [] };
}

function readBlock(block, file) {
  const at = block.lines.findIndex((line) => line.trim() !== '' && !line.startsWith('#'));
  const word = at < 0 ? null : /^!(\S+)/.exec(block.lines[at])?.[1];
  if (kTextDirectives.has(word)) return readTextBlock(block, at, file);
  const { rest, expectations } = readComments(block, file);
  const body = rest.filter(({ text }) => text.trim() !== '');
  const line = body[0]?.line ?? block.first;
  if (body.length === 0) return expectations.length > 0 ? { kind: 'wait', line, expectations } : null;
  if (word !== null && word !== undefined) {
    return { ...readDirective(body[0], file), lines: body.slice(1), expectations };
  }
  return { kind: 'messages', messages: readMessages(body, file), line, expectations };
}

/** Steps in order: `{kind, line, expectations, …}`. Throws with file and line for what cannot be read. */
export function readTranscript(path, file = path) {
  const steps = splitBlocks(fs.readFileSync(path, 'utf8'))
    .map((block) => readBlock(block, file))
    .filter((step) => step !== null);
  if (steps.at(-1)?.kind !== 'exit') throw new TranscriptError(file, 1, 'a transcript ends with !exit CODE');
  return steps;
}
