import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { bundle } from './bundle.ts';
import { repositoryRoot } from './local-program.ts';

const published = path.join(repositoryRoot, 'packages/signalbox');
const outDir = path.join(published, 'dist');
const manifest = JSON.parse(readFileSync(path.join(published, 'package.json'), 'utf8'));

const undeclared = await bundle({
  entries: { main: path.join(published, 'src/main.ts') },
  outDir,
  dependencies: Object.keys(manifest.dependencies),
  inlined: ['@noble/hashes', '@preact/signals-core', 'canonicalize', 'commander', 'uuid', 'zod'],
  root: repositoryRoot,
});
copyFileSync(path.join(repositoryRoot, 'LICENSE'), path.join(published, 'LICENSE'));

for (const name of undeclared) {
  console.error(`the program uses ${name}: add it to the dependencies of packages/signalbox/package.json`);
}
process.exitCode = undeclared.length === 0 ? 0 : 1;
