// A private home, state and repository for one test, and the real program run in them.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const program = process.env.ESCROW_BIN;
if (!program) throw new Error('set ESCROW_BIN to the escrow program');

export class Place {
  constructor() {
    this.base = mkdtempSync(join(tmpdir(), 'escrow-cli-'));
    chmodSync(this.base, 0o755);
    this.home = this.directory('home');
    this.state = this.directory('state');
    this.config = this.directory('config');
    this.root = this.directory('repo');
    chmodSync(this.root, 0o755);
    this.git('init', '-q');
    this.git('config', 'user.email', 'test@example.org');
    this.git('config', 'user.name', 'Test');
  }

  directory(name) {
    const path = join(this.base, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  git(...args) {
    const done = spawnSync('git', args, { cwd: this.root, encoding: 'utf8', env: this.environment() });
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  }

  environment(extra = {}) {
    return {
      PATH: process.env.PATH, HOME: this.home, LANG: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1',
      ESCROW_STATE_DIR: this.state, ESCROW_CONFIG_DIR: this.config, ...extra,
    };
  }

  /** Runs it; `env` values of undefined unset a variable. */
  run(args, { input = '', env = {}, cwd = this.root } = {}) {
    const merged = Object.fromEntries(
      Object.entries(this.environment(env)).filter(([, value]) => value !== undefined));
    const done = spawnSync(program, args, { cwd, input, env: merged, encoding: 'utf8', timeout: 60_000 });
    if (done.error) throw done.error;
    return { code: done.status, out: done.stdout, err: done.stderr };
  }

  json(args, options) {
    const done = this.run([...args.slice(0, 1), ...args.slice(1)], options);
    try {
      return { ...JSON.parse(done.out), code: done.code };
    } catch {
      throw new Error(`no JSON from escrow ${args.join(' ')}: exit ${done.code}\n${done.out}\n${done.err}`);
    }
  }

  write(name, text) {
    const path = join(this.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  policy(text) {
    const path = join(this.config, 'policy.yaml');
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  read(name) { return readFileSync(join(this.root, name), 'utf8'); }
  exists(name) { return existsSync(join(this.root, name)); }
  remove() { rmSync(this.base, { recursive: true, force: true }); }
}

/** Runs `body` in a fresh place and removes it, whatever happens. */
export async function inPlace(body) {
  const place = new Place();
  try {
    await body(place);
  } finally {
    place.remove();
  }
}

/** A string shaped like a provider's token, made here so that no scanner stumbles over this file. */
export function inventedToken() {
  const alphabet = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC';
  let text = '';
  for (let i = 0; i < 36; ++i) text += alphabet[(i * 7 + 3) % alphabet.length];
  return 'gh' + 'p_' + text;
}
