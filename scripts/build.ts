import { copyFileSync, cpSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
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

const undeclared = await bundle({
  entries: {
    main: path.join(published, 'src/main.ts'),
    ...present({ 'plan-worker': path.join(packages, 'app/src/threads/plan-worker.ts') }),
    ...api,
  },
  outDir,
  dependencies: Object.keys(manifest.dependencies),
  inlined: ['@noble/hashes', '@preact/signals-core', 'canonicalize', 'commander', 'uuid', 'zod'],
  root: repositoryRoot,
});
writeDeclarations({ entries: api, outDir, root: repositoryRoot });
for (const built of Object.values(present({ console: path.join(packages, 'console/dist') }))) {
  cpSync(built, path.join(outDir, 'console'), { recursive: true });
}
copyFileSync(path.join(repositoryRoot, 'LICENSE'), path.join(published, 'LICENSE'));

for (const name of undeclared) {
  console.error(`the program uses ${name}: add it to the dependencies of packages/signalbox/package.json`);
}
process.exitCode = undeclared.length === 0 ? 0 : 1;

/** Those that are there: a part that this checkout does not have is left out. */
function present(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).filter(([, file]) => existsSync(file)));
}
