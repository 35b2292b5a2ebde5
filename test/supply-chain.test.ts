import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AllowedCode, codeOf, codeProblems } from '../scripts/supply-chain/code-at-install.ts';
import { isAllowed, licenceProblems } from '../scripts/supply-chain/licences.ts';
import { installedWith, lockOf, neededBy, packageOf, readLock } from '../scripts/supply-chain/lock-file.ts';
import { type Delivery, sbomOf } from '../scripts/supply-chain/sbom.ts';
import { shippedPlaces } from '../scripts/supply-chain/shipped.ts';
import { vendoredPackages } from '../scripts/supply-chain/vendored.ts';
import { repositoryRoot } from './source-file.ts';

describe('the dependencies of this repository', () => {
  const lock = readLock(repositoryRoot);

  it('[A310] run no script and bring no native code that is not on the list with its reason', () => {
    expect(codeProblems(codeOf(lock, repositoryRoot), shippedPlaces(lock))).toEqual([]);
  });

  it('[A311] are under licences that are on the list', () => {
    expect(licenceProblems(lock, shippedPlaces(lock))).toEqual([]);
  });
});

const sha512 = (text: string) => `sha512-${Buffer.from(text).toString('base64')}`;
const lock = lockOf({
  '': {},
  'packages/app': { name: '@own/app', version: '1.0.0', dependencies: { '@own/base': '1.0.0', '@a/b': '^1.0.0' } },
  'packages/base': { name: '@own/base', version: '1.0.0', dependencies: { c: '^1.0.0' } },
  'packages/base/node_modules/c': { version: '1.5.0', license: 'ISC' },
  'node_modules/@own/app': { link: true, resolved: 'packages/app' },
  'node_modules/@own/base': { link: true, resolved: 'packages/base' },
  'node_modules/@a/b': {
    version: '1.2.3',
    license: 'MIT',
    integrity: sha512('b'),
    dependencies: { c: '^2.0.0' },
    optionalDependencies: { 'b-linux': '1.0.0', 'b-none': '1.0.0' },
  },
  'node_modules/b-linux': { version: '1.0.0', license: '(MIT OR GPL-3.0-only)', os: ['linux'], optional: true },
  'node_modules/c': { version: '2.0.0', license: 'GPL-3.0-only' },
  'node_modules/tool': { version: '3.0.0', license: 'MPL-2.0', hasInstallScript: true },
});
const named = (packages: Iterable<{ readonly name: string; readonly version: string }>) =>
  [...packages].map(({ name, version }) => `${name}@${version}`).sort();

describe('a lock file', () => {
  it('says what comes with a package: what is nearest to each, through links', () => {
    expect(named(installedWith(lock, 'packages/app'))).toEqual([
      '@a/b@1.2.3',
      '@own/base@1.0.0',
      'b-linux@1.0.0',
      'c@1.5.0',
      'c@2.0.0',
    ]);
    expect(named(neededBy(lock, 'packages/base'))).toEqual(['c@1.5.0']);
  });

  it('says which package a file is of', () => {
    expect(packageOf(lock, 'packages/base/node_modules/c/lib/index.js')?.version).toBe('1.5.0');
    expect(packageOf(lock, 'node_modules/@a/b/index.js')?.name).toBe('@a/b');
    expect(packageOf(lock, 'packages/base/src/index.ts')).toBeUndefined();
  });
});

describe('the check of licences', () => {
  const exception = (name: string, license: string) => ({ name, license, reason: 'For a test.' });

  it('[A311] takes one of several that are offered, and all of those that are needed', () => {
    const allowed = ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC', 'Apache-2.0 OR MIT'];
    const refused = ['GPL-3.0-only', 'MIT AND GPL-3.0-only', '(MIT AND (ISC OR GPL-3.0-only))', '', 'UNLICENSED'];
    expect([...allowed, ...refused].filter(isAllowed)).toEqual(allowed);
  });

  it('[A311] names what is not on the list, an exception that is shipped, and one that nothing needs', () => {
    const problems = licenceProblems(lock, new Set(['node_modules/c']), [
      exception('c', 'GPL-3.0-only'),
      exception('none', 'MPL-2.0'),
    ]);
    expect(problems).toEqual([
      'c@2.0.0 is under GPL-3.0-only and is shipped',
      'no package needs the exception for none',
      'tool@3.0.0 is under MPL-2.0, which is not on the list of licences',
    ]);
  });
});

describe('the check of code that comes with packages', () => {
  it('[A310] finds install scripts, packages of one platform, addons and what they are compiled from', () => {
    const root = mkdtempSync(path.join(tmpdir(), 'supply-chain-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const write = (file: string) => {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), '');
    };
    const native = {
      'node_modules/addon': 'build/Release/addon.node',
      'node_modules/source': 'binding.gyp',
      'node_modules/ahead': 'prebuilds/linux-x64/ahead.bin',
    };
    for (const [place, file] of Object.entries(native)) write(`${place}/${file}`);
    write('node_modules/plain/index.js');
    write('node_modules/plain/node_modules/inner/inner.node');
    const places = [...Object.keys(native), 'node_modules/plain', 'node_modules/plain/node_modules/inner'];
    const more = lockOf(Object.fromEntries(places.map(place => [place, { version: '1.0.0' }])));
    const found = codeOf(new Map([...lock, ...more]), root);
    const allowed: readonly AllowedCode[] = [
      { name: 'tool', means: ['install script'], reason: 'For a test.' },
      { name: 'b-*', means: ['native code'], reason: 'For a test.' },
      { name: 'gone', means: ['native code'], reason: 'For a test.' },
    ];
    expect(codeProblems(found, new Set(['node_modules/b-linux']), allowed)).toEqual([
      'addon@1.0.0 has native code',
      'ahead@1.0.0 has native code',
      'b-linux@1.0.0 has native code and is shipped',
      'inner@1.0.0 has native code',
      'no package needs the entry for gone native code',
      'source@1.0.0 has native code',
    ]);
    expect(codeProblems(found, new Set(), [])).toContain('tool@3.0.0 has an install script');
  });
});

describe('the list of components', () => {
  it('[A312] has what others had built into their packages', () => {
    const sources = [
      '../../../node_modules/@a/b/index.js',
      '../../../node_modules/node_modules/.pnpm/c@1.9.0_b@2.0.0/node_modules/c/lib/index.js',
      '../../../node_modules/node_modules/.pnpm/@a+b@1.0.0/node_modules/@a/b/index.js',
      '../src/own.ts',
    ];
    expect(vendoredPackages(lock, sources)).toEqual([
      { name: 'c', version: '1.9.0', license: 'ISC', place: 'vendored/c' },
      { name: '@a/b', version: '1.0.0', license: 'MIT', place: 'vendored/@a/b' },
    ]);
    expect(() => vendoredPackages(lock, ['node_modules/unheard/of.js'])).toThrow('is not known');
  });

  it('[A312] is CycloneDX: each package once, with its licence, its digest and how it is delivered', () => {
    const found = [...installedWith(lock, 'packages/app')].filter(({ place }) => place.includes('node_modules/'));
    const packages = new Map<(typeof found)[number], readonly Delivery[]>(
      found.map(one => [one, one.name === '@a/b' ? ['bundled in the program', 'installed'] : ['installed']]),
    );
    const options = {
      name: 'own',
      version: '1.0.0',
      license: 'MIT',
      lock,
      packages,
      direct: neededBy(lock, 'packages/app'),
    };
    const made = sbomOf(options);
    expect(sbomOf(options)).toEqual(made);
    const installed = [{ name: 'signalbox:delivery', value: 'installed' }];
    const component = (purl: string, name: string, version: string) => ({
      'bom-ref': purl,
      type: 'library',
      name,
      version,
      purl,
    });
    expect(made).toEqual({
      $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      serialNumber: expect.stringMatching(
        /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      version: 1,
      metadata: {
        lifecycles: [{ phase: 'build' }],
        component: {
          ...component('pkg:npm/own@1.0.0', 'own', '1.0.0'),
          type: 'application',
          licenses: [{ license: { id: 'MIT' } }],
        },
      },
      components: [
        {
          ...component('pkg:npm/%40a/b@1.2.3', '@a/b', '1.2.3'),
          scope: 'required',
          licenses: [{ license: { id: 'MIT' } }],
          hashes: [{ alg: 'SHA-512', content: Buffer.from('b').toString('hex') }],
          properties: [{ name: 'signalbox:delivery', value: 'bundled in the program' }, ...installed],
        },
        {
          ...component('pkg:npm/b-linux@1.0.0', 'b-linux', '1.0.0'),
          scope: 'optional',
          licenses: [{ expression: '(MIT OR GPL-3.0-only)' }],
          properties: installed,
        },
        {
          ...component('pkg:npm/c@1.5.0', 'c', '1.5.0'),
          scope: 'required',
          licenses: [{ license: { id: 'ISC' } }],
          properties: installed,
        },
        {
          ...component('pkg:npm/c@2.0.0', 'c', '2.0.0'),
          scope: 'required',
          licenses: [{ license: { id: 'GPL-3.0-only' } }],
          properties: installed,
        },
      ],
      dependencies: [
        { ref: 'pkg:npm/own@1.0.0', dependsOn: ['pkg:npm/%40a/b@1.2.3'] },
        { ref: 'pkg:npm/%40a/b@1.2.3', dependsOn: ['pkg:npm/b-linux@1.0.0', 'pkg:npm/c@2.0.0'] },
        { ref: 'pkg:npm/b-linux@1.0.0', dependsOn: [] },
        { ref: 'pkg:npm/c@1.5.0', dependsOn: [] },
        { ref: 'pkg:npm/c@2.0.0', dependsOn: [] },
      ],
    });
  });
});
