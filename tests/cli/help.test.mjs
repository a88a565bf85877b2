import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { inPlace } from './place.mjs';

const commands = ['lsp', 'exec', 'score', 'classify', 'evaluate', 'rules', 'review', 'grants', 'policy', 'audit', 'doctor'];

test('help and version are answers on stdout', () => inPlace((place) => {
  const help = place.run(['--help']);
  assert.equal(help.code, 0);
  for (const command of commands) assert.match(help.out, new RegExp(`^ +${command} `, 'm'));
  assert.match(place.run(['--version']).out, /^escrow \d+\.\d+\.\d+\n$/);
  assert.equal(place.run(['grants', 'allow', '--help']).code, 0);
}));

test('a wrong command line is one line on stderr that says where help is', () => inPlace((place) => {
  for (const args of [[], ['scoer'], ['score', '--format', 'xml'], ['score', '--nonsense'], ['policy'], ['grants', 'allow']]) {
    const done = place.run(args);
    assert.equal(done.code, 2, args.join(' '));
    assert.equal(done.out, '');
    assert.match(done.err, /^escrow: [^\n]+--help\)\n$/, args.join(' '));
  }
}));

test('an answer that does not reach stdout is a fault', { skip: process.platform !== 'linux' }, () => inPlace((place) => {
  const done = spawnSync('bash', ['-c', `"${process.env.ESCROW_BIN}" --version > /dev/full`], { env: place.environment() });
  assert.equal(done.status, 3);
}));

test('every command and option of the parser is in the man page', () => inPlace((place) => {
  const page = place.run(['man']).out.replaceAll('\\-', '-');
  for (const command of ['exec', 'score', 'classify', 'evaluate', 'rules', 'review approve', 'grants allow', 'policy explain', 'audit verify']) {
    assert.match(page, new RegExp(`^\\.SS .*escrow ${command}`, 'm'));
    const help = place.run([...command.split(' '), '--help']).out;
    for (const [option] of help.matchAll(/--[a-z][a-z-]+/g)) assert.ok(option === '--help' || page.includes(option), `${command} ${option}`);
  }
  assert.ok(!page.split('\n').some((line) => /^['.](?!TH|SH|SS|TP|B|BR|RB|I|PP|nf|fi)/.test(line)));
}));

function complete(place, line) {
  const script = join(place.base, 'complete.bash');
  writeFileSync(script, place.run(['completion', 'bash']).out);
  const words = line.split(' ');
  const ask = `source "${script}"; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); ` +
    `COMP_CWORD=${words.length - 1}; _escrow; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const done = spawnSync('bash', ['-c', ask], { cwd: place.root, encoding: 'utf8', env: place.environment() });
  assert.equal(done.stderr, '');
  return done.stdout.split('\n').filter(Boolean);
}

test('bash completes commands, options, their values and files', () => inPlace((place) => {
  place.write('change.diff', '');
  assert.deepEqual(complete(place, 'escrow cl'), ['classify']);
  assert.deepEqual(complete(place, 'escrow grants re'), ['revoke']);
  assert.deepEqual(complete(place, 'escrow score --format '), ['text', 'json', 'sarif']);
  assert.ok(complete(place, 'escrow policy explain --').includes('--venue'));
  assert.deepEqual(complete(place, 'escrow policy explain --venue h'), ['host']);
  assert.ok(complete(place, 'escrow score ch').includes('change.diff'));
}));

test('the scripts of zsh and fish are accepted by their shells, where these are installed', () => inPlace((place) => {
  for (const [shell, flag] of [['zsh', '-n'], ['fish', '--no-execute']]) {
    const script = join(place.base, shell);
    writeFileSync(script, place.run(['completion', shell]).out);
    const done = spawnSync(shell, [flag, script], { encoding: 'utf8' });
    if (done.error) continue;
    assert.equal(done.status, 0, done.stderr);
  }
}));

test('the doctor says what holds here, in text and as JSON', () => inPlace((place) => {
  const found = place.json(['doctor', '--json']);
  assert.equal(found.code, found.available ? 0 : 1);
  assert.ok(found.items.some((item) => item.name === 'policy' && item.available));
  assert.equal(found.paths.state, place.state);
  const text = place.run(['doctor']).out;
  for (const item of found.items) assert.ok(text.includes(item.name));
}));
