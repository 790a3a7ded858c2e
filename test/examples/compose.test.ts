/** examples/docker-compose: what its containers are started with is what the server understands. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findServer } from '../../src/nats/server.js';
import { onServer } from '../nats/stage.js';

const DIR = 'examples/docker-compose';
const CONFIG = `${DIR}/nats.conf`;

interface Service {
  readonly command: readonly string[];
  readonly configs: readonly { readonly source: string; readonly target: string }[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const compose = parse(readFileSync(`${DIR}/compose.yaml`, 'utf8'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const config = readFileSync(CONFIG, 'utf8');

describe('examples: compose', () => {
  it('every server is a route of the others, under its own name, with a volume', () => {
    const routes = [...config.matchAll(/nats:\/\/(\w+):6222/g)].map(([, name]) => name);
    expect(services.map(([name]) => name)).toEqual(routes);
    expect(Object.keys(compose.volumes)).toEqual(routes);
    for (const [name, { environment, volumes }] of services) {
      expect({ environment, volumes }).toEqual({
        environment: { SERVER_NAME: name },
        volumes: [`${name}:/data`],
      });
    }
  });

  it('the configuration is where the command looks for it', () => {
    expect(compose.configs).toEqual({ nats: { file: './nats.conf' } });
    for (const [, { command, configs }] of services) {
      expect(configs).toEqual([{ source: 'nats', target: command[1] }]);
    }
  });

  it('ports are open to this machine alone, and are those that the text names', () => {
    const ports = services.flatMap(([, service]) => service.ports);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const text = readFileSync(`${DIR}/README.md`, 'utf8');
    const clients = ports.filter((port) => port.endsWith(':4222'));
    const url = clients.map((port) => port.replace(/:4222$/, '')).join(',');
    expect(text).toContain(`export NATS_URL=nats://${url}\n`);
  });
});

onServer('examples: compose: nats-server', () => {
  it.each(services)('%s: takes the configuration', (_, { environment }) => {
    const { status, stdout, stderr } = spawnSync(findServer(process.env)!, ['-t', '-c', CONFIG], {
      env: environment,
      encoding: 'utf8',
    });
    expect({ status, said: stdout + stderr }).toMatchObject({
      status: 0,
      said: expect.stringMatching(/^nats-server: configuration file .* is valid/) as string,
    });
  });
});
