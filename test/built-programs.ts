import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { repositoryRoot } from '../scripts/local-program.ts';
import { isProgramStale } from '../scripts/staleness.ts';

const ENTRY =
  /import\.meta\.url\.endsWith\('\.ts'\) \? '\.\/(plan-worker|journal-worker|replay-child)\.ts' : '\.\/\1\.js'/;
const CODE = path.join(repositoryRoot, 'node_modules/.cache/code');

/** Changes a module so that it starts threads and replays as they are built: their sources take four times as long to load. */
export type ModuleChange = (code: string) => string;

/** Returns a change that changes nothing in a full run, or if the build is older than the sources. */
export function entriesOfBuild(): ModuleChange {
  if (process.env.SIGNALBOX_FULL === '1' || isProgramStale()) return code => code;
  const code = JSON.stringify(keptCode());
  const built = (name: string) => path.join(repositoryRoot, 'packages/signalbox/dist', `${name}.js`);
  return source =>
    source
      .replace(ENTRY, (_, name) => JSON.stringify(pathToFileURL(built(name)).href))
      .replace(
        'workerData: { memoryMb, codeDirectory }',
        `workerData: { memoryMb, codeDirectory: codeDirectory ?? ${code} }`,
      )
      .replace(
        'workerData: { ...data, ending }',
        `workerData: { ...data, codeDirectory: data.codeDirectory ?? ${code}, ending }`,
      );
}

/** Makes the folder in which built programs keep their compiled code for the next start. */
function keptCode(): string {
  // Others read what lies beside it: some tests run as another user.
  mkdirSync(path.dirname(CODE), { recursive: true });
  mkdirSync(CODE, { recursive: true, mode: 0o700 });
  return CODE;
}

/** Plans are loaded by Node, whose hooks give them the engine's own modules, and not by Vitest, which would give them others. */
function withOwnImports(code: string): string {
  const vm = "process.getBuiltinModule('node:vm')";
  const how = `{ importModuleDynamically: ${vm}.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }`;
  return code.replaceAll(/(?<![\w.])import\(url\)/g, `${vm}.runInThisContext('url => import(url)', ${how})(url)`);
}

/** The same for modules that tests import. */
export function builtPrograms(): Plugin {
  const withEntries = entriesOfBuild();
  return {
    name: 'built-programs',
    enforce: 'pre',
    // Vitest keeps what modules were changed to.
    configureVitest: ({ defineCacheKeyGenerator }) =>
      defineCacheKeyGenerator(({ sourceCode }) => withEntries(sourceCode)),
    transform(code, id) {
      if (id.endsWith('/packages/plan/src/load/load-plan.ts')) return withOwnImports(code);
      return /\/packages\/app\/src\/(threads|run-journal|replay)\//.test(id) ? withEntries(code) : undefined;
    },
  };
}
