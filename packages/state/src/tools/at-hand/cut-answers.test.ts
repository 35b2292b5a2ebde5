import * as fs from 'node:fs';
import { createSecretFilter, cutFiltered, knownSecretOf } from '@signalbox/model';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
} from '../../../test/builders.ts';
import { readFile } from './file-tools.ts';
import { createRunCommand } from './run-command.ts';
import { grepFiles } from './search-tools.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

const SECRET = ['a', 'secret+of"someone', '0123456789'].join('/');
const mac = (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0').slice(-64);
const filter = createSecretFilter({ known: [knownSecretOf('SOME_TOKEN', SECRET, mac)], mac });

it('[S204] answers of tools that are cut end without a part of a secret, wherever it lies', async () => {
  const root = directory.path;
  const files = openTestFilesystem(root);
  const { state } = createTestState({ files, cut: (text, most) => cutFiltered(filter, text, most) });
  const tools = [readFile, grepFiles, createRunCommand({ unconfined: true })];
  const runner = createTestRunner(state, { tools });
  const LIMITS = { run_command: 64 << 10, read_file: 2000, grep: 2000 };
  for (const [name, limit] of Object.entries(LIMITS)) {
    for (const into of [1, 8, 20, SECRET.length - 1]) {
      const line = `needle ${'x'.repeat(limit - into - 'needle '.length)}${SECRET}${' y'.repeat(40_000)}`;
      fs.writeFileSync(`${root}/long`, line);
      const input = {
        run_command: { command: ['cat', 'long'] },
        read_file: { path: 'long' },
        grep: { path: '.', text: 'needle' },
      };
      const call = { id: `${name}-${into}`, name, input: input[name as keyof typeof input] };
      const outcome = JSON.stringify(must(await runner.execute(call)));
      expect(outcome).toContain('needle xxx');
      expect([name, into, outcome.includes('a/sec')]).toEqual([name, into, false]);
    }
  }
});
