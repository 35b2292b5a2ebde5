// A process that runs calls on a directory it shares with others, under locks that work between processes.
// node lock-child.ts ROOT LOCKS CALLS          each call adds one to a counter, slowly, and some calls fail.
import * as fs from 'node:fs';
import * as z from 'zod';
import { defineTool, fail, succeed } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem } from './builders.ts';
import { createSqliteLocks } from './sqlite-locks.ts';

const [root = '', locks = '', calls = '0'] = process.argv.slice(2);
const files = openTestFilesystem(root);
const count = defineTool({
  name: 'count',
  description: 'adds one',
  input: z.boolean(),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  async handler(works) {
    const before = Number(fs.readFileSync(`${root}/counter`, 'utf8'));
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    fs.writeFileSync(`${root}/counter`, String(before + 1));
    return works ? succeed(null) : fail('as told');
  },
});
const runner = createTestRunner(createTestState({ files }).state, { tools: [count], locks: createSqliteLocks(locks) });
for (let call = 0; call < Number(calls); call++) {
  const outcome = must(await runner.execute({ id: `${process.pid} ${call}`, name: 'count', input: call % 3 !== 0 }));
  if (outcome.status === 'failed' && outcome.rollback.kind !== 'restored') throw new Error(JSON.stringify(outcome));
}
