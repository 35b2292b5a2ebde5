import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { repositoryRoot } from '../scripts/local-program.ts';
import { isProgramStale } from '../scripts/staleness.ts';

const ENTRY = /import\.meta\.url\.endsWith\('\.ts'\) \? '\.\/(plan-worker|replay-child)\.ts' : '\.\/\1\.js'/;

/**
 * Lets tests start the threads of plans, and replays, as they are built, if nothing changed since: their sources take four times as
 * long to load.
 */
export function builtPrograms(): Plugin {
  const built = path.join(repositoryRoot, 'packages/signalbox/dist');
  const isStale = isProgramStale();
  return {
    name: 'built-programs',
    enforce: 'pre',
    transform(code, id) {
      if (isStale || !/\/packages\/app\/src\/(threads|replay)\//.test(id)) return undefined;
      return code.replace(ENTRY, (_, name) => JSON.stringify(pathToFileURL(path.join(built, `${name}.js`)).href));
    },
  };
}
