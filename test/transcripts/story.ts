/**
 * A story: commands, and under each what came of it. A file is read line by line:
 *
 *     # a comment; the first ones say what the story shows and where it is from
 *     command word key=value
 *       what came of it, indented: compared, or written anew
 *
 * The first command says in which language the others are: `cluster` (cluster-language.ts: whole
 * replicas in virtual time) or `mirror` (mirror-language.ts: one mirror, its surroundings by hand).
 */
import { ClusterLanguage } from './cluster-language.js';
import { Command } from './command.js';
import { MirrorLanguage } from './mirror-language.js';

export interface Language {
  /** Carries it out, and returns what came of it. Throws in one line when it cannot. */
  play(command: Command): readonly string[];
}

/** The story as it comes out now: commands, comments and empty lines as they are. */
export function retold(text: string, name: string): string {
  const lines: string[] = [];
  let language: Language | null = null;
  text.split('\n').forEach((line, at) => {
    if (line.startsWith(' ')) return;
    lines.push(line);
    if (line === '' || line.startsWith('#')) return;
    try {
      const command = new Command(line);
      language ??= languageOf(command);
      lines.push(...language.play(command).map((told) => `  ${told}`));
    } catch (error) {
      throw new Error(`${name}:${at + 1}: ${(error as Error).message}`, { cause: error });
    }
  });
  return lines.join('\n');
}

function languageOf({ name }: Command): Language {
  if (name === 'cluster') return new ClusterLanguage();
  if (name === 'mirror') return new MirrorLanguage();
  throw new Error(`a story begins with cluster or mirror, not with ${name}`);
}
