import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compiledFiles } from './compiled-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'compiled-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('compiled modules in files', () => {
  it('[A37] are found again, by whoever owns the data directory', () => {
    compiledFiles(path.join(folder, 'cache'), nodeHasher).put('key', 'a\nb\n');
    expect(compiledFiles(path.join(folder, 'cache'), nodeHasher).get('key')).toBe('a\nb\n');
    expect(statSync(path.join(folder, 'cache', 'key.js')).mode & 0o777).toBe(0o600);
    expect(readdirSync(path.join(folder, 'cache'))).toEqual(['key.js']);
  });

  it('[A37] that were changed do not count', () => {
    const cache = compiledFiles(folder, nodeHasher);
    cache.put('key', 'good');
    writeFileSync(path.join(folder, 'key.js'), `// ${nodeHasher('good')}\nevil`);
    expect(cache.get('key')).toBeUndefined();
  });

  it('[A246] are not kept where they hold a secret', () => {
    const cache = compiledFiles(folder, nodeHasher, code => code.includes('secret'));
    cache.put('key', 'const a = "secret";');
    cache.put('other', 'const a = 1;');
    expect(readdirSync(folder)).toEqual(['other.js']);
  });

  it('[A37] that cannot be written are a saving that is not made', () => {
    writeFileSync(path.join(folder, 'file'), '');
    const cache = compiledFiles(path.join(folder, 'file', 'below'), nodeHasher);
    cache.put('key', 'code');
    expect(cache.get('key')).toBeUndefined();
  });
});
