import { copyFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { AHEAD_FILE, compileBundled } from '@signalbox/workflow';
import { buildConsole, CONSOLE_LICENCES } from './build-console.ts';
import { bundle } from './bundle.ts';
import { writeDeclarations } from './declarations.ts';
import { repositoryRoot } from './local-program.ts';
import {
  foreignPackages,
  type Lock,
  type LockedPackage,
  neededBy,
  packageOf,
  readLock,
} from './supply-chain/lock-file.ts';
import { type Delivery, sbomOf } from './supply-chain/sbom.ts';
import { installedPackages } from './supply-chain/shipped.ts';
import { vendoredPackages } from './supply-chain/vendored.ts';

const packages = path.join(repositoryRoot, 'packages');
const published = path.join(packages, 'signalbox');
const outDir = path.join(published, 'dist');
const manifest = JSON.parse(readFileSync(path.join(published, 'package.json'), 'utf8'));

/** The modules that authors of plans import. */
const api = {
  index: path.join(published, 'src/index.ts'),
  'jsx-runtime': path.join(packages, 'plan/src/jsx/jsx-runtime.ts'),
  'jsx-dev-runtime': path.join(packages, 'plan/src/jsx/jsx-dev-runtime.ts'),
  testing: path.join(published, 'src/testing.ts'),
  embed: path.join(published, 'src/embed.ts'),
  client: path.join(published, 'src/client.ts'),
};

/** Browsers load the client as it is built: it is one file, and names nothing of Node. */
const { client, ...programApi } = api;

/** Packages bundled into the program, with their dependencies: one file loads faster than eighty, and there is one zod. */
const inlined = [
  '@hono/node-server',
  '@modelcontextprotocol/server',
  '@noble/hashes',
  '@preact/signals-core',
  'canonicalize',
  'commander',
  'hono',
  'string-width',
  'strip-ansi',
  'uuid',
  'zod',
];
const withTheirOwn = [...new Set(inlined.flatMap(name => [name, ...dependenciesOf(name)]))];

const { undeclared, misread, files } = await bundle({
  entries: {
    'echo-agent': path.join(packages, 'testkit/src/echo-agent/echo-agent.ts'),
    'replay-child': path.join(packages, 'app/src/replay/replay-child.ts'),
    'replay-bundle': path.join(published, 'src/bundles/replay-bundle.ts'),
    ...programApi,
  },
  browser: { client },
  apart: {
    main: path.join(published, 'src/programs/built-main.ts'),
    'plan-worker': path.join(published, 'src/programs/plan-thread.ts'),
    'journal-worker': path.join(published, 'src/programs/journal-thread.ts'),
  },
  scripts: {
    all: path.join(published, 'src/programs/all.ts'),
    ls: path.join(published, 'src/programs/ls.ts'),
    show: path.join(published, 'src/programs/show.ts'),
    run: path.join(published, 'src/programs/run.ts'),
    mcp: path.join(published, 'src/programs/mcp.ts'),
    'plan-worker': path.join(packages, 'app/src/threads/plan-worker.ts'),
    'journal-worker': path.join(packages, 'app/src/run-journal/journal-worker.ts'),
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
writeFileSync(path.join(outDir, 'sbom.cdx.json'), `${JSON.stringify(sbom(), null, 2)}\n`);
// Last: it tells that the build is whole (staleness.ts).
writeFileSync(path.join(outDir, AHEAD_FILE), await compileBundled(nodeHasher));

for (const name of undeclared) {
  console.error(`the program uses ${name}: add it to the dependencies of packages/signalbox/package.json`);
}
for (const name of misread) {
  console.error(`a script takes the default export of ${name}, an ES module: add it to "inlined" in scripts/build.ts`);
}
process.exitCode = undeclared.length + misread.length === 0 ? 0 : 1;

/** Every package of others that is in what was built, or is installed with it. */
function sbom(): object {
  const lock = readLock(repositoryRoot);
  const packages = new Map<LockedPackage, Delivery[]>();
  const deliver = (found: Iterable<LockedPackage | undefined>, delivery: Delivery) => {
    for (const one of new Set(found))
      if (one !== undefined) packages.set(one, [...(packages.get(one) ?? []), delivery]);
  };
  deliver(
    [...files.map(file => packageOf(lock, file)), ...vendoredPackages(lock, sourcesOfMaps())],
    'bundled in the program',
  );
  deliver(consolePackages(lock), 'bundled in the console');
  deliver(installedPackages(lock), 'installed');
  const { name, version, license } = manifest;
  return sbomOf({ name, version, license, lock, packages, direct: neededBy(lock, 'packages/signalbox') });
}

/** The sources of the program, as far down as the packages that it is made of say theirs. */
function sourcesOfMaps(): readonly string[] {
  const maps = readdirSync(outDir).filter(file => file.endsWith('.js.map'));
  return maps.flatMap(file => JSON.parse(readFileSync(path.join(outDir, file), 'utf8')).sources);
}

/** The packages that Vite reports for the page, and Tailwind for its base style sheet. */
function consolePackages(lock: Lock): readonly LockedPackage[] {
  const named: readonly { readonly name: string; readonly version: string }[] = [
    ...JSON.parse(readFileSync(path.join(outDir, 'console', CONSOLE_LICENCES), 'utf8')),
    ...foreignPackages(lock).filter(({ place }) => place === 'node_modules/tailwindcss'),
  ];
  return named.map(({ name, version }) => {
    const found = foreignPackages(lock).find(one => one.name === name && one.version === version);
    if (found === undefined) throw new Error(`the console holds ${name}@${version}, which is not in package-lock.json`);
    return found;
  });
}

function dependenciesOf(name: string): readonly string[] {
  const file = path.join(repositoryRoot, 'node_modules', name, 'package.json');
  return Object.keys(JSON.parse(readFileSync(file, 'utf8')).dependencies ?? {});
}
