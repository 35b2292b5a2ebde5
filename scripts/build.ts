import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { AHEAD_FILE, compileBundled } from '@signalbox/workflow';
import { buildConsole } from './build-console.ts';
import { bundle } from './bundle.ts';
import { writeDeclarations } from './declarations.ts';
import { repositoryRoot } from './local-program.ts';

const packages = path.join(repositoryRoot, 'packages');
const published = path.join(packages, 'signalbox');
const outDir = path.join(published, 'dist');
const manifest = JSON.parse(readFileSync(path.join(published, 'package.json'), 'utf8'));

/** What authors of plans import. */
const api = {
  index: path.join(published, 'src/index.ts'),
  'jsx-runtime': path.join(packages, 'plan/src/jsx/jsx-runtime.ts'),
  'jsx-dev-runtime': path.join(packages, 'plan/src/jsx/jsx-dev-runtime.ts'),
};

/** What becomes part of the program, and what that is made of: one file loads faster than eighty, and there is one zod. */
const inlined = [
  '@modelcontextprotocol/server',
  '@noble/hashes',
  '@preact/signals-core',
  'canonicalize',
  'commander',
  'uuid',
  'zod',
];
const withTheirOwn = [...new Set(inlined.flatMap(name => [name, ...dependenciesOf(name)]))];

const undeclared = await bundle({
  entries: {
    main: path.join(published, 'src/main.ts'),
    'plan-worker': path.join(packages, 'app/src/threads/plan-worker.ts'),
    'replay-child': path.join(packages, 'app/src/replay/replay-child.ts'),
    'replay-bundle': path.join(published, 'src/bundles/replay-bundle.ts'),
    ...api,
  },
  outDir,
  dependencies: [...Object.keys(manifest.dependencies), ...withTheirOwn],
  inlined: withTheirOwn,
  root: repositoryRoot,
});
writeDeclarations({ entries: api, outDir, root: repositoryRoot });
buildConsole();
cpSync(path.join(packages, 'console/dist'), path.join(outDir, 'console'), { recursive: true });
cpSync(path.join(packages, 'workflow/bundled'), path.join(outDir, 'bundled'), { recursive: true });
copyFileSync(path.join(repositoryRoot, 'LICENSE'), path.join(published, 'LICENSE'));
// Last: it tells that the build is whole (staleness.ts).
writeFileSync(path.join(outDir, AHEAD_FILE), await compileBundled(nodeHasher));

for (const name of undeclared) {
  console.error(`the program uses ${name}: add it to the dependencies of packages/signalbox/package.json`);
}
process.exitCode = undeclared.length === 0 ? 0 : 1;

function dependenciesOf(name: string): readonly string[] {
  const file = path.join(repositoryRoot, 'node_modules', name, 'package.json');
  return Object.keys(JSON.parse(readFileSync(file, 'utf8')).dependencies ?? {});
}
