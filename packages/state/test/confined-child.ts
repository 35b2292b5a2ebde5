// Runs one confined command and prints how it ended.
// node confined-child.ts ROOT [DATA SCRIPT]      without a script, one that writes for ever.
import { createRunCommand, detectSandbox } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem } from './builders.ts';

const [root = '', data, script = 'while :; do echo x >> alive; done'] = process.argv.slice(2);
const files = openTestFilesystem(root, data === undefined ? {} : { dataDirectory: data });
const tool = createRunCommand({ sandbox: detectSandbox });
const runner = createTestRunner(createTestState({ files }).state, { tools: [tool] });
const input = { command: ['sh', '-c', script] };
process.stdout.write(JSON.stringify(must(await runner.execute({ id: '1', name: 'run_command', input }))));
