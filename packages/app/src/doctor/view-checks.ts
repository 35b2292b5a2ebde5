import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { type CommandLimits, DEFAULT_LIMITS, type ReadablePlace, viewOf } from '@signalbox/state';
import { openAcceptedRules } from '../sandbox/accepted-rules.ts';
import { type Check, failed, passed, warned } from './check.ts';

/** Lists what an agent's command could read and change in a directory under the current rules. */
export function checkView(dataDirectory: string, directory: string): readonly Check[] {
  const root = realpathSync(directory);
  const found = openAcceptedRules(dataDirectory).look(root);
  if (!found.ok) return [failed('commands', found.error.message, found.error.suggestion)];
  const isAccepted = found.value?.state === 'accepted';
  const rules = isAccepted ? found.value?.project.rules : undefined;
  const view = viewOf({ root, ...(rules && { rules }) });
  const of = (kind: ReadablePlace['kind']) =>
    view.readable.filter(place => place.kind === kind).map(({ path }) => path);
  return [
    passed('commands', `may change ${listed([root, ...view.writable])}`),
    passed('may read', listed(of('system'))),
    passed('toolchains', listed(of('toolchain'))),
    passed('caches', listed(of('cache'))),
    passed('hidden', listed([...view.covered, ...view.hidden])),
    passed('limits', described(rules?.limits ?? DEFAULT_LIMITS)),
    ...(found.value === undefined ? [] : [widening(found.value, of('sandbox.json'), root)]),
  ];
}

type Found = NonNullable<Extract<ReturnType<ReturnType<typeof openAcceptedRules>['look']>, { ok: true }>['value']>;

function widening({ project, state }: Found, read: readonly string[], root: string): Check {
  const { file, digest, rules } = project;
  const which = `${file} (sha256 ${digest.slice(0, 12)})`;
  if (state !== 'accepted') {
    const why = state === 'new' ? 'was not accepted' : 'has changed since it was accepted';
    const advice = `Commands are refused here. Read the file, then accept it: signalbox sandbox accept '${root}'`;
    return warned('sandbox.json', `${which} ${why}`, advice);
  }
  const parts = [
    ...(read.length === 0 ? [] : [`also read ${listed(read)}`]),
    ...(rules.env.length === 0 ? [] : [`see the variables ${rules.env.join(', ')}`]),
    ...(rules.network === 'host' ? ["use this machine's network, including cloud metadata and local services"] : []),
  ];
  const found = `${which}: commands ${parts.length === 0 ? 'have other limits or places to write' : parts.join('; ')}`;
  if (rules.network === 'none' && rules.write.length === 0) return passed('sandbox.json', found);
  return warned('sandbox.json', found, 'Effects over the network or outside the project are not undone.');
}

function listed(paths: readonly string[]): string {
  const home = homedir();
  const short = paths.map(path =>
    home.length > 1 && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path,
  );
  return short.length === 0 ? 'nothing' : short.join(' ');
}

function described({ memoryMb, processes, fileMb, diskMb, seconds }: CommandLimits): string {
  return `${memoryMb} MB memory, ${processes} processes, ${fileMb} MB a file, ${diskMb} MB on disk, ${seconds} s`;
}
