import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const plan = `
import { definePlan, Task } from 'signalbox';
export default definePlan({ name: 'seen', render: () => <Task id="greet" run={() => 'hello'} /> });
`;
/** Lets the program take its standard output for a terminal. */
const asTerminal = `--import=data:text/javascript,${encodeURIComponent('Object.assign(process.stdout, { isTTY: true, columns: 80, rows: 24 })')}`;

it('[X60] draws the tree of a run on a terminal, and ends like one that writes lines', () => {
  writeFileSync(path.join(folder, 'plan.tsx'), plan);
  const args = ['run', 'plan.tsx', '--data-dir', path.join(folder, 'data')];
  const drawn = signalbox(args, { cwd: folder, env: { NODE_OPTIONS: asTerminal, TERM: 'xterm' } });
  expect(drawn).toMatchObject({ status: 0, stderr: '' });
  expect(drawn.stdout).toMatch(/task greet/);
  expect(drawn.stdout).toMatch(/completed/);
});
