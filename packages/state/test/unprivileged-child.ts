// Runs, as somebody who is not root, a call that changes directories which do not let themselves be written, and fails.
// node unprivileged-child.ts ROOT         prints how the call ended.
import * as fs from 'node:fs';
import * as z from 'zod';
import { defineTool, fail } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem } from './builders.ts';

const [root = ''] = process.argv.slice(2);
const change = defineTool({
  name: 'change',
  description: 'a test',
  input: z.null(),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  handler() {
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
    return fail('as told');
  },
});
const runner = createTestRunner(createTestState({ files: openTestFilesystem(root) }).state, { tools: [change] });
process.stdout.write(JSON.stringify(must(await runner.execute({ id: '1', name: 'change', input: null }))));
