// A git repository in a private temporary place, with a HOME and state of its own, so that a test neither sees nor
// leaves anything of the person who runs it.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Root of this project's own checkout. */
export const projectRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The program under test: ESCROW_BIN, else the release build. */
export function escrowBinary() {
  const binary = process.env.ESCROW_BIN ?? path.join(projectRoot, 'build', 'release', 'bin', 'escrow');
  if (!fs.existsSync(binary)) throw new Error(`${binary}: no such program; build it (./dev build) or set ESCROW_BIN`);
  return path.resolve(binary);
}

// Same author and time everywhere: commit ids, too, are then the same on every run.
const kGitIdentity = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** What a program needs to run here, and nothing of the person's: HOME, XDG_* and Escrow's state lie in `place`. */
function privateEnvironment(place) {
  const folder = (name) => {
    const made = path.join(place, name);
    fs.mkdirSync(made, { mode: 0o700 });
    return made;
  };
  const kept = Object.fromEntries(
    ['PATH', 'LANG', 'LC_ALL', 'TERM', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS']
      .filter((name) => process.env[name] !== undefined)
      .map((name) => [name, process.env[name]]),
  );
  return {
    ...kept,
    ...kGitIdentity,
    HOME: folder('home'),
    TMPDIR: folder('tmp'),
    XDG_CONFIG_HOME: folder('config'),
    XDG_STATE_HOME: folder('xdg-state'),
    XDG_CACHE_HOME: folder('cache'),
    XDG_DATA_HOME: folder('data'),
    XDG_RUNTIME_DIR: folder('run'),
    ESCROW_STATE_DIR: folder('state'),
    ESCROW_CONFIG_DIR: folder('escrow-config'),
  };
}

/** The upper layers of sandboxes may hold directories of mode 000, which only chmod makes removable. */
function removeTree(place) {
  try {
    fs.rmSync(place, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    execFileSync('chmod', ['-R', 'u+rwX', place]);
    fs.rmSync(place, { recursive: true, force: true });
  }
}

export class Repository {
  /** Use makeRepo. */
  constructor(place) {
    /** Temporary directory that holds everything, `root` included. */
    this.place = place;
    /** Absolute path of the work tree, free of symlinks. */
    this.root = path.join(place, 'work');
    /** Environment for whatever runs here. */
    this.env = privateEnvironment(place);
    this.home = this.env.HOME;
    this.stateDir = this.env.ESCROW_STATE_DIR;
    fs.mkdirSync(this.root);
    this.git('init', '--quiet', '--initial-branch=main');
  }

  path(name = '') {
    return path.join(this.root, name);
  }

  /** `file:` URI of a file, or of the work tree. */
  uri(name = '') {
    return pathToFileURL(this.path(name)).href;
  }

  write(name, text) {
    fs.mkdirSync(path.dirname(this.path(name)), { recursive: true });
    fs.writeFileSync(this.path(name), text);
  }

  /** Its text, or null when there is no such file. */
  read(name) {
    try {
      return fs.readFileSync(this.path(name), 'utf8');
    } catch (error) {
      if (error.code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Standard output of git; throws with its standard error when it fails. */
  git(...args) {
    return execFileSync('git', args, { cwd: this.root, env: this.env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  commit(message = 'Start') {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', message);
  }

  /** Removes all of it. End what runs here first. */
  cleanup() {
    removeTree(this.place);
  }
}

/**
 * Makes a repository with `files` (`{name: text}`) committed in it; nothing is committed when there are none.
 * The caller calls `cleanup()`.
 */
export function makeRepo(files = {}) {
  const place = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'escrow-test-')));
  const repo = new Repository(place);
  for (const [name, text] of Object.entries(files)) repo.write(name, text);
  if (Object.keys(files).length > 0) repo.commit();
  return repo;
}
