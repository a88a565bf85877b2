// Open documents as an editor holds them: text, version, and edits in the negotiated position encoding.
//
// Stricter than a real editor on purpose: a position that splits a character, or edits that overlap, are the server's
// fault and throw.

const kLineEnd = /\r\n|\r|\n/g;

/** Bytes, 16-bit units or code points of `text`, as LSP's PositionEncodingKind names them. */
export function unitsIn(text, encoding) {
  switch (encoding) {
    case 'utf-8':
      return Buffer.byteLength(text);
    case 'utf-16':
      return text.length;
    case 'utf-32':
      return [...text].length;
    default:
      throw new Error(`unknown position encoding ${encoding}`);
  }
}

/** Start and end (without its line end) of each line, as indices into the string. */
function linesOf(text) {
  const lines = [];
  let start = 0;
  for (const match of text.matchAll(kLineEnd)) {
    lines.push({ start, end: match.index });
    start = match.index + match[0].length;
  }
  lines.push({ start, end: text.length });
  return lines;
}

/** Index into `text` of an LSP position. Beyond the line's end it clamps to it, as LSP 3.17 ("Position") says. */
export function offsetAt(text, position, encoding = 'utf-16') {
  const lines = linesOf(text);
  if (position.line >= lines.length) return text.length;
  const { start, end } = lines[position.line];
  let units = 0;
  let offset = start;
  for (const character of text.slice(start, end)) {
    if (units >= position.character) break;
    units += unitsIn(character, encoding);
    offset += character.length;
  }
  if (units > position.character) {
    throw new Error(`position ${position.line}:${position.character} (${encoding}) splits a character`);
  }
  return offset;
}

/** The LSP position of an index into `text`. */
export function positionAt(text, offset, encoding = 'utf-16') {
  const lines = linesOf(text);
  let line = lines.length - 1;
  while (lines[line].start > offset) --line;
  return { line, character: unitsIn(text.slice(lines[line].start, offset), encoding) };
}

/** `text` after LSP's TextEdits, all of which name ranges of the text before. */
export function applyEdits(text, edits, encoding = 'utf-16') {
  const spans = edits.map((edit, order) => ({
    start: offsetAt(text, edit.range.start, encoding),
    end: offsetAt(text, edit.range.end, encoding),
    newText: edit.newText,
    order,
  }));
  spans.sort((a, b) => a.start - b.start || a.order - b.order);
  let result = '';
  let done = 0;
  for (const span of spans) {
    if (span.end < span.start) throw new Error('an edit ends before it starts');
    if (span.start < done) throw new Error('edits overlap');
    result += text.slice(done, span.start) + span.newText;
    done = span.end;
  }
  return result + text.slice(done);
}

/** The documents that are open, kept in step by the client's own didOpen, didChange and didClose. */
export class Documents {
  #open = new Map();
  encoding = 'utf-16';

  /** `{uri, languageId, version, text}`, or undefined when it is not open. */
  get(uri) {
    return this.#open.get(uri);
  }

  /** Takes note of a notification on its way to the server. One sent broken, on purpose, changes nothing. */
  follow({ method, params }) {
    if (typeof params?.textDocument?.uri !== 'string') return;
    switch (method) {
      case 'textDocument/didOpen':
        this.#open.set(params.textDocument.uri, { ...params.textDocument });
        break;
      case 'textDocument/didChange':
        this.#change(params);
        break;
      case 'textDocument/didClose':
        this.#open.delete(params.textDocument.uri);
        break;
    }
  }

  #change({ textDocument, contentChanges }) {
    const document = this.#open.get(textDocument.uri);
    if (!document || !Array.isArray(contentChanges)) return;
    for (const { range, text } of contentChanges) {
      document.text = range ? applyEdits(document.text, [{ range, newText: text }], this.encoding) : text;
    }
    document.version = textDocument.version;
  }
}
