import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type ErrorEnvelope, usageError } from '@signalbox/app';
import type { GuidedToolsOptions } from '@signalbox/app/guided';

export const WORKFLOWS_OPTION = [
  '--workflows <dir...>',
  'directories to search for workflows, before .signalbox/workflows here and in the home directory',
] as const;

export interface WorkflowFlags {
  readonly workflows?: readonly string[];
  readonly json?: boolean;
}

type Places = GuidedToolsOptions['directories'];

/** Where workflows are searched after the bundled ones: the first match for an id wins. */
export function workflowPlaces(asked: readonly string[] = []): Places {
  const own = (root: string) => path.join(root, '.signalbox', 'workflows');
  const here = [...asked.map(directory => path.resolve(directory)), own(process.cwd())];
  const home = own(homedir());
  return [
    ...[...new Set(here)]
      .filter(directory => directory !== home)
      .map(directory => ({ kind: 'project', directory }) as const),
    { kind: 'user', directory: home },
  ];
}

/**
 * Refuses a source that is elsewhere: a server, a repository or a package. What a run is pinned to must be read from a file that a person
 * has brought here and can look at.
 */
export function remoteRefusal(named: string): ErrorEnvelope | undefined {
  const kind = /^(https?|ssh|ftp):\/\/|^git@/i.test(named)
    ? 'on a server'
    : /^(npm|plugin|github|git):/i.test(named)
      ? 'in a package'
      : undefined;
  if (kind === undefined) return undefined;
  return usageError(
    `${named} is ${kind}, and workflows are read from files of this machine only.`,
    'Fetch it yourself (git clone, npm pack, curl), look at it, and bring it over with "signalbox workflow import DIR".',
  );
}

/** A missing directory is an error only if the user named it. */
export function missingPlace(asked: readonly string[] = []): ErrorEnvelope | undefined {
  const [remote] = asked.flatMap(each => remoteRefusal(each) ?? []);
  if (remote !== undefined) return remote;
  const missing = asked.find(directory => !existsSync(directory));
  return missing === undefined
    ? undefined
    : usageError(`There is no directory ${missing}.`, 'Give --workflows a directory that exists.');
}
