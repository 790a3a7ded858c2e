/**
 * The file that a server of ours is started with. The user's lines come first and ours after them:
 * what comes later holds.
 */
import { relative, resolve } from 'node:path';
import { isOneLine } from '../scenario/words.js';

/** A server's place in a cluster. */
export interface Membership {
  readonly cluster: string;
  /** Of the server, in the cluster. */
  readonly name: string;
  /** Where the other servers are reached. */
  readonly routes: readonly string[];
}

/** Ports that a server chose at its first start; the client's and the monitor's stay the same. */
export interface Ports {
  readonly client: number;
  readonly monitor: number;
  /** Of routes; null: the server is alone, or not there. */
  readonly route: number | null;
}

export interface OurLines {
  readonly name: string;
  /** Of the configuration, the log and the store. */
  readonly dir: string;
  readonly storeDir: string;
  readonly jetStream: boolean;
  readonly membership: Membership | undefined;
  /** Null: it has not chosen any yet. */
  readonly ports: Ports | null;
}

/**
 * Told to other servers as the place of a route. Nothing listens there: a server that learned of
 * another from a third one would else make a route that goes round what we put in between.
 */
const NOWHERE = '127.0.0.1:1';
const HOST = '127.0.0.1';
/** Before what it has against its configuration; what follows on more lines is of the same kind. */
const SAYS = 'nats-server: ';
/** Before what it fails of later, in its log. */
const FATAL = /^.* \[FTL\] /;

/**
 * What a server is started with, and says again at each reload: ports do not change in one. A
 * server reads its keys in any order, so each name that a thing has is given its value.
 */
export function ourLines({
  name,
  dir,
  storeDir,
  jetStream,
  membership,
  ports,
}: OurLines): string[] {
  const client = ports?.client ?? -1;
  const monitor = ports?.monitor ?? -1;
  return [
    `server_name: ${name}`,
    `listen: "${HOST}:${client}", host: "${HOST}", net: "${HOST}", port: ${client}`,
    `http: "${HOST}:${monitor}", http_port: ${monitor}, monitor_port: ${monitor}`,
    'http_base_path: "", log_file: "", logfile: ""',
    `ports_file_dir: ${quoted(dir)}`,
    ...(jetStream ? [`jetstream { store_dir: ${quoted(storeDir)} }`] : []),
    ...(membership === undefined ? [] : clusterLines(membership)),
  ];
}

function clusterLines({ cluster, routes }: Membership): string[] {
  return [
    `cluster { name: ${cluster}, listen: "${HOST}:-1", cluster_advertise: "${NOWHERE}"`,
    `  routes: [${routes.map(quoted).join(', ')}] }`,
  ];
}

/** A text as the configuration's syntax has it. */
function quoted(text: string): string {
  return `"${text}"`;
}

/** Whether a configuration can name this path: its syntax knows no escapes there. */
export function isNameable(file: string): boolean {
  return isOneLine(resolve(file)) && !resolve(file).includes('"');
}

/**
 * The line that has a server read a file of the user's where it is: what that includes is found,
 * and what is wrong in it is told with its own lines.
 */
export function includeLine(dir: string, file: string): string {
  return `include ${quoted(includedFrom(dir, file))}`;
}

/** A server takes it as relative to the file that includes it. */
function includedFrom(dir: string, file: string): string {
  return relative(resolve(dir), resolve(file));
}

/**
 * What a server that did not start has against the user's file, in one line and with the file's
 * name as the user wrote it: `c.conf:3: 'Unexpected EOF'`, `c.conf:2:1: unknown field "x"`.
 *
 * @param log  all that it said
 */
export function refusalIn(log: string, dir: string, file: string): string {
  const lines = log.trimEnd().split(/\s*\n/);
  const at = lines.findLastIndex((line) => line.startsWith(SAYS));
  const said = at === -1 ? [lines.at(-1)!.replace(FATAL, '')] : lines.slice(at);
  return said
    .join('; ')
    .replace(SAYS, '')
    .replace(`error parsing include file '${includedFrom(dir, file)}', `, `${file}: `)
    .replace(/: Parse error on line (\d+): /, ':$1: ')
    .replaceAll(resolve(file), file);
}
