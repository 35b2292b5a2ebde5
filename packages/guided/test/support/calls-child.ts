// Makes the calls that its parent sends, one after the other, and sends the answers back.
//   fork(calls-child.ts, [DIRECTORY])
import type { GuidedTools } from '../../src/index.ts';
import { openTools } from './open-tools.ts';

const tools = openTools(process.argv[2] ?? '');
process.on('message', async ({ name, input }: { name: keyof GuidedTools; input: never }) => {
  process.send?.(await tools[name](input));
});
process.send?.('ready');
