/**
 * Started with descriptors that are not its own: says what the programs see of them that it runs itself, a line each.
 */
import { createRunCommand } from '../src/index.ts';
import { runProgram } from '../src/programs/run-program.ts';
import { createTestRunner, createTestState, must, openTestFilesystem } from './builders.ts';
import { hasLayers, openLayered, sandbox } from './layered.ts';

const [place = '', script = ''] = process.argv.slice(2);

const say = (how: string, seen: unknown) => console.log(JSON.stringify({ how, seen }));

const call = { id: 'call', name: 'run_command', input: { command: ['sh', '-c', script] } };
const files = openTestFilesystem(`${place}/root`);
for (const [how, tool] of [
  ['in place', createRunCommand({ sandbox: async () => sandbox })],
  ['unconfined', createRunCommand({ unconfined: true })],
] as const) {
  const runner = createTestRunner(createTestState({ files }).state, { tools: [tool] });
  say(how, must(await runner.execute(call)));
}
if (hasLayers) say('on a layer', await (await openLayered(place)).run(script));
say('program', await runProgram('/bin/sh', ['-c', script], { env: { PATH: process.env.PATH ?? '' } }));
