// A process that runs one command in place and can be killed while it does.
// node person-owner-child.ts DIRECTORY SCRIPT
import {
  createPathLocks,
  createRunCommand,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
} from '../src/index.ts';
import { createTestRunner, createTestState, must } from './builders.ts';

const [directory = '', script = ''] = process.argv.slice(2);
const undoLog = openHostUndoLog(`${directory}/undo`);
const store = openHostContentStore(`${directory}/blobs`);
const files = must(openHostFilesystem({ root: `${directory}/root`, store, undoLog }));
const tools = [createRunCommand({ unconfined: true })];
const runner = createTestRunner(createTestState({ files }).state, { tools, locks: createPathLocks(), undoLog });
await runner.execute({ id: 'call', name: 'run_command', input: { command: ['sh', script], timeoutMs: 3_600_000 } });
