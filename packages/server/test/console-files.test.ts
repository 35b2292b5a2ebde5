import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createAccess, createHttpApp } from '@signalbox/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TOKEN } from './http-asker.ts';
import { scriptedHost } from './scripted-host.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'signalbox-console-'));
  mkdirSync(path.join(root, 'dist/assets'), { recursive: true });
  writeFileSync(path.join(root, 'secret.txt'), 'secret');
  writeFileSync(path.join(root, 'secret.js'), 'secret');
  writeFileSync(path.join(root, 'dist/index.html'), '<!doctype html><title>page</title>');
  writeFileSync(path.join(root, 'dist/assets/app-1a2b.js'), 'export {};');
  writeFileSync(path.join(root, 'dist/notes.txt'), 'not served');
  symlinkSync(path.join(root, 'secret.js'), path.join(root, 'dist/link.js'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('the console', () => {
  const get = async (name: string) => {
    const app = createHttpApp({
      host: scriptedHost(),
      access: createAccess(TOKEN, () => 4280),
      consoleDirectory: path.join(root, 'dist'),
    });
    const answer = await app.request(name, { headers: { host: '127.0.0.1:4280' } });
    return [
      answer.status,
      answer.headers.get('content-type'),
      answer.headers.get('cache-control'),
      await answer.text(),
    ];
  };

  it('[V34] is one page for all its paths, and its files by name', async () => {
    const page = [200, 'text/html; charset=utf-8', 'no-cache', '<!doctype html><title>page</title>'];
    expect(await get('/')).toEqual(page);
    expect(await get('/runs/01890000-0000-7000-8000-00000000dead')).toEqual(page);
    expect(await get('/assets/app-1a2b.js')).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
      'export {};',
    ]);
  });

  it.each([
    '/assets/other.js',
    '/notes.txt',
    '/link.js',
    '/../secret.js',
    '/..%2fsecret.js',
    '/assets/%2e%2e/%2e%2e/secret.js',
    '/assets/..%5c..%5csecret.js',
  ])('[V34] serves nothing for %s', async name => {
    const [status, , , text] = await get(name);
    expect(status).toBe(404);
    expect(text).toContain('request/unknown-route');
  });

  it('[V34] does not shadow the API', async () => {
    expect((await get('/api'))[0]).toBe(401);
    expect((await get('/api/runs'))[0]).toBe(401);
  });
});
