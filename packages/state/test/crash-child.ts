// A process that ends itself, with SIGKILL, before or after the n-th change that undo makes on disk.
// node crash-child.ts DIRECTORY SCENARIO N before|after      prints how many changes there were, if it lives.
import * as fs from 'node:fs';
import * as z from 'zod';
import {
  createCheckpointStore,
  createPathLocks,
  defineTool,
  fail,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  recoverPending,
  rollbackToTool,
  succeed,
} from '../src/index.ts';
import { createTestRunner, createTestState, must } from './builders.ts';
import { crashing } from './crashing-files.ts';

const [directory = '', scenario = '', at = '0', when = 'before'] = process.argv.slice(2);
const root = `${directory}/root`;
const files = crashing(Number(at), when === 'before');
const undoLog = openHostUndoLog(`${directory}/undo`, files.port);
const store = openHostContentStore(`${directory}/blobs`, files.port);
const open = () => openHostFilesystem({ root, store, undoLog, files: files.port });
const locks = createPathLocks();

if (scenario === 'recover') {
  process.stdout.write(`${JSON.stringify(await recoverPending({ undoLog, locks, open, files: files.port }))}\n`);
} else {
  const { state } = createTestState({ files: must(open()), checkpoints: createCheckpointStore() });
  const change = defineTool({
    name: 'change',
    description: 'changes everything',
    input: z.boolean(),
    output: z.null(),
    risk: 'low',
    effects: { kind: 'files' },
    async handler(succeeds) {
      changeEverything();
      // A sign of life, as the call gives it again and again.
      await openHostUndoLog(`${directory}/undo`).touch(`${fs.realpathSync(root)}\ncall`);
      return succeeds ? succeed(null) : fail('as told');
    },
  });
  const runner = createTestRunner(state, { tools: [change], locks, undoLog });
  must(await runner.execute({ id: 'call', name: 'change', input: scenario !== 'fail' }));
  process.stdout.write('answered\n');
  if (scenario === 'rollback') {
    must(await rollbackToTool({ state, locks, toolCallId: 'call' }));
    process.stdout.write('rolled back\n');
  }
}
process.stdout.write(`${files.count()}\n`);

function changeEverything(): void {
  fs.writeFileSync(`${root}/file`, 'changed');
  fs.chmodSync(`${root}/dir`, 0o700);
  fs.rmSync(`${root}/dir/gone`);
  fs.mkdirSync(`${root}/new/deep`, { recursive: true });
  fs.writeFileSync(`${root}/new/deep/file`, 'new');
  fs.rmSync(`${root}/link`);
  fs.mkdirSync(`${root}/link`);
  fs.renameSync(`${root}/nested`, `${root}/moved`);
  fs.rmdirSync(`${root}/empty`);
  fs.writeFileSync(`${root}/empty`, 'a file now');
  fs.writeFileSync(`${root}/locked/inner`, 'changed');
}
