/**
 * Folders of servers, among the system's temporary files. Each says whose it is, so that the next
 * start takes away what an owner left that was killed. One that is kept says nothing and stays: it
 * was named to somebody who wants to read its log.
 */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockstepError } from '../base/errors.js';
import { plain } from '../base/plain.js';

/** Of a folder: the process that made it. */
interface Owner {
  readonly pid: number;
  /** When it was started, in the kernel's words; null: they are not to be had here. */
  readonly started: string | null;
  /** Where that process id means this process: another container may share the folder. */
  readonly space: string;
}

const PREFIX = 'lockstep-nats-';
const OWNER = 'owner.json';
/** What a server of such a folder writes when it takes connections. */
const PORTS = /^nats-server_(\d+)\.ports$/;
/** Of `/proc/PID/stat`, counted behind the name, which may hold spaces. */
const START_FIELD = 19;

/** Where this process looked already. */
const swept = new Set<string>();

/**
 * Makes one that is ours. The first of a process takes away those whose owners died.
 *
 * Errors: usage, when there is no place for it.
 */
export function makeFolder(): string {
  const root = tmpdir();
  if (!swept.has(root)) sweep(root);
  swept.add(root);
  try {
    const dir = mkdtempSync(join(root, PREFIX));
    const owner: Owner = { pid: process.pid, started: startOf(process.pid), space: spaceOf() };
    writeFileSync(join(dir, OWNER), JSON.stringify(owner));
    return dir;
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new LockstepError('usage', `TMPDIR: no folder can be made in ${plain(root)}: ${why}`);
  }
}

/** Nobody takes it away from now on. */
export function keepFolder(dir: string): void {
  rmSync(join(dir, OWNER), { force: true });
}

/** Takes away the folders in `root` that were left by processes of this machine that are gone. */
export function sweep(root: string): void {
  for (const name of foldersIn(root)) {
    const dir = join(root, name);
    try {
      if (isAbandoned(dir)) rmSync(dir, { recursive: true, force: true });
    } catch {
      // Somebody else's, or on its way out already.
    }
  }
}

function foldersIn(root: string): string[] {
  try {
    const entries = readdirSync(root, { withFileTypes: true });
    return entries.flatMap((entry) =>
      entry.isDirectory() && entry.name.startsWith(PREFIX) ? entry.name : [],
    );
  } catch {
    return [];
  }
}

/** Whatever does not say for sure that its owner is gone, or belongs to another user, is not. */
function isAbandoned(dir: string): boolean {
  if (statSync(dir).uid !== process.getuid?.()) return false;
  const owner = JSON.parse(readFileSync(join(dir, OWNER), 'utf8')) as Partial<Owner>;
  const { pid, started, space } = owner;
  if (typeof pid !== 'number' || started === undefined || space !== spaceOf()) return false;
  if (lives(pid, started)) return false;
  return !readdirSync(dir).some((name) => {
    const server = PORTS.exec(name)?.[1];
    return server !== undefined && lives(Number(server), null);
  });
}

/** @param started  null: whoever has the id is taken for it */
function lives(pid: number, started: string | null): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const found = startOf(pid);
  return started === null || found === null || found === started;
}

/** A process id is given again; with this it is not. Null: the system does not say. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD] ?? null;
  } catch {
    return null;
  }
}

function spaceOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
