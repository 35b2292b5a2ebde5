// As somebody who is not in the group of a file and of a directory: a call that changes them, a call that removes them, and then both
// are undone, the last one first.
// node foreign-group-child.ts ROOT       prints what each undo answers, and then once more.
import * as fs from 'node:fs';
import * as z from 'zod';
import { createCheckpointStore, createPathLocks, defineTool, succeed, undoCall } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem } from './builders.ts';

const [root = ''] = process.argv.slice(2);
const tool = (name: string, work: () => void) =>
  defineTool({
    ...{ name, description: 'a test', input: z.null(), output: z.null(), risk: 'low', effects: { kind: 'files' } },
    handler() {
      work();
      return succeed(null);
    },
  });
const change = tool('change', () => {
  fs.appendFileSync(`${root}/gf`, 'changed');
  fs.writeFileSync(`${root}/gd/new`, 'new');
});
const remove = tool('remove', () => {
  fs.rmSync(`${root}/gf`);
  fs.rmSync(`${root}/gd`, { recursive: true });
});
const files = openTestFilesystem(root);
const checkpoints = createCheckpointStore();
const { state } = createTestState({ files, checkpoints });
const locks = createPathLocks();
const runner = createTestRunner(state, { tools: [change, remove], locks });
for (const name of ['change', 'remove']) must(await runner.execute({ id: name, name, input: null }));
const answers: unknown[] = [];
for (const id of ['remove', 'remove', 'change', 'change']) {
  const checkpoint = checkpoints.get(id);
  if (checkpoint === undefined) throw new Error('no checkpoint');
  const undone = await undoCall({ files, checkpoint, locks });
  answers.push(undone.ok ? undone.value : undone.error);
}
process.stdout.write(JSON.stringify(answers));
