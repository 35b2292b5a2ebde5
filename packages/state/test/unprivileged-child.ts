// Runs, as somebody who is not root, a call that changes the modes of things, and then another one.
// node unprivileged-child.ts ROOT SCENARIO       prints how both calls ended, and what can be undone of the first.
import * as fs from 'node:fs';
import * as z from 'zod';
import { createCheckpointStore, createPathLocks, defineTool, fail, succeed, undoCall } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem } from './builders.ts';

const [root = '', scenario = ''] = process.argv.slice(2);

/** What each call does to a tree that `unprivileged.test.ts` made. */
const scenarios: Record<string, () => void> = {
  'directories that may not be written'() {
    fs.chmodSync(`${root}/locked`, 0o755);
    fs.rmSync(`${root}/locked/gone`);
    fs.writeFileSync(`${root}/locked/new`, 'x');
    fs.chmodSync(`${root}/locked`, 0o555);
    fs.mkdirSync(`${root}/made/deep`, { recursive: true });
    fs.writeFileSync(`${root}/made/deep/file`, 'x', { mode: 0o400 });
    fs.chmodSync(`${root}/made/deep`, 0o555);
    fs.chmodSync(`${root}/made`, 0o555);
    fs.chmodSync(`${root}/removed`, 0o755);
    fs.rmSync(`${root}/removed`, { recursive: true });
  },
  'a directory that could not be read'() {
    fs.chmodSync(`${root}/unreadable`, 0o755);
    fs.chmodSync(`${root}/secret`, 0o644);
  },
  'directories that may not be read'() {
    fs.mkdirSync(`${root}/made/deep`, { recursive: true });
    fs.writeFileSync(`${root}/made/deep/file`, 'x');
    fs.chmodSync(`${root}/made/deep`, 0o000);
    fs.chmodSync(`${root}/made`, 0o000);
    fs.writeFileSync(`${root}/open/file`, 'changed');
    fs.chmodSync(`${root}/open/file`, 0o000);
    fs.chmodSync(`${root}/open`, 0o000);
  },
  'a root that may not be written': () => fs.chmodSync(root, 0o555),
  'a root that may not be read'() {
    fs.writeFileSync(`${root}/open/file`, 'changed');
    fs.chmodSync(root, 0o000);
  },
  'a directory that may not be searched': () => fs.chmodSync(`${root}/open`, 0o600),
  'a file that may not be read': () => fs.chmodSync(`${root}/open/file`, 0o000),
};

const change = defineTool({
  name: 'change',
  description: 'a test',
  input: z.boolean(),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  handler(succeeds) {
    scenarios[scenario]?.();
    return succeeds ? succeed(null) : fail('as told');
  },
});
const nothing = defineTool({ ...change, name: 'nothing', handler: () => succeed(null) });
const files = openTestFilesystem(root);
const checkpoints = createCheckpointStore();
const { state } = createTestState({ files, checkpoints });
const locks = createPathLocks();
const runner = createTestRunner(state, { tools: [change, nothing], locks });
const answers: unknown[] = [];
// A root that may not be read cannot be worked in: only the undo of a failed call opens it.
for (const succeeds of scenario === 'a root that may not be read' ? [false] : [false, true]) {
  answers.push(must(await runner.execute({ id: `${succeeds}`, name: 'change', input: succeeds })));
  answers.push(must(await runner.execute({ id: `next ${succeeds}`, name: 'nothing', input: false })));
}
const checkpoint = checkpoints.get('true');
const undone = checkpoint === undefined ? undefined : await undoCall({ files, checkpoint, locks });
process.stdout.write(JSON.stringify({ answers, undone: undone?.ok ? undone.value : undone?.error }));
