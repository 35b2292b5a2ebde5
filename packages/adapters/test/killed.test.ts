import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startChild } from '@signalbox/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { live, SCRIPT } from './host-life.ts';

let base: string;
beforeAll(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-adapters-'));
});
afterAll(() => fs.rmSync(base, { recursive: true }));

function prepared(name: string): string {
  const directory = path.join(base, name);
  fs.mkdirSync(`${directory}/root`, { recursive: true });
  fs.writeFileSync(`${directory}/script.json`, JSON.stringify(SCRIPT));
  fs.writeFileSync(`${directory}/kept.jsonl`, '');
  return directory;
}

const child = childScript(import.meta.dirname, 'killed-child.ts');

it('[B15, B16] a process that is killed at any point is followed by one that ends its work, on real files', async () => {
  let operations = 0;
  const calm = prepared('calm');
  expect(await live(calm, operation => (operations = operation + 1))).toEqual({ kind: 'done', output: 'Done.' });
  expect(operations).toBeGreaterThan(15);
  // Starting a process is what takes time: a few at once.
  for (const places of chunks(operations, 4)) {
    await Promise.all(
      places.map(async at => {
        const directory = prepared(String(at));
        const end = await startChild(child, directory, at).ended;
        expect(end.signal, `operation ${at}`).toBe('SIGKILL');
        expect(await live(directory, () => {}), `operation ${at}`).toEqual({ kind: 'done', output: 'Done.' });
        const left = ['a.txt', 'log.txt'].map(name => fs.readFileSync(`${directory}/root/${name}`, 'utf8'));
        expect(left, `operation ${at}`).toEqual(['AA', 'once\ntwice\n']);
      }),
    );
  }
});

function chunks(count: number, size: number): readonly (readonly number[])[] {
  const places = Array.from({ length: count }, (_, index) => index);
  return places.filter(at => at % size === 0).map(at => places.slice(at, at + size));
}
