import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const data = path.join(folder, 'data');
const work = path.join(folder, 'work');
/** Known in the list of processes. */
const mark = `echo-${process.pid}-${path.basename(folder)}`;

const steps = echoPrompt([
  { do: 'append', file: 'edited.txt', text: 'once' },
  { do: 'when', variable: 'HANG', steps: [{ do: 'hang' }] },
  { do: 'say', text: 'Done.' },
]);

function given(): string {
  for (const one of [data, work]) fs.mkdirSync(one, { mode: 0o700 });
  const command = [process.execPath, echoAgentProgram, mark];
  const agents = { echo: { command, variables: ['HANG'] } };
  fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents }));
  fs.writeFileSync(path.join(work, 'edited.txt'), 'first\n');
  const plan = path.join(folder, 'plan.tsx');
  fs.writeFileSync(
    plan,
    `import { Agent, definePlan } from 'signalbox';
     export default definePlan({ name: 'crash', render: () => <Agent id="agent" plugin="echo" cwd="work" prompt={${JSON.stringify(steps)}} /> });`,
  );
  return plan;
}

const upper = () => {
  const layers = path.join(data, 'layers');
  const names = fs.existsSync(layers) ? fs.readdirSync(layers) : [];
  return names.some(name => fs.existsSync(path.join(layers, name, 'upper', 'edited.txt')));
};
const isAlive = () =>
  fs.readdirSync('/proc').some(pid => {
    try {
      return /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  });
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 10));
}

it.skipIf(process.platform !== 'linux')(
  '[A715] an agent whose owner is killed in the middle of its turn leaves nothing, and its edit is applied once',
  async () => {
    const plan = given();
    const args = ['run', plan, '--data-dir', data, '--directory', folder];
    const first = spawn(process.execPath, [entry, ...args], {
      ...{ cwd: folder, stdio: 'ignore' },
      env: { ...ownEnvironment(folder), HANG: '1' },
    });
    const ended = new Promise(resolve => first.once('exit', resolve));
    await until(upper);
    expect(isAlive()).toBe(true);
    expect(fs.readFileSync(path.join(work, 'edited.txt'), 'utf8')).toBe('first\n');
    first.kill('SIGKILL');
    await ended;
    await until(() => !isAlive());

    const [{ id } = { id: '' }] = signalbox(['ls', '--json', '--data-dir', data], { cwd: folder })
      .stdout.trim()
      .split('\n')
      .map(line => JSON.parse(line) as { id: string });
    const resumed = signalbox(['resume', id, '--data-dir', data], { cwd: folder });
    expect(resumed).toMatchObject({ status: 0 });
    expect(fs.readFileSync(path.join(work, 'edited.txt'), 'utf8')).toBe('first\nonce\n');
    expect(isAlive()).toBe(false);
    expect(fs.readdirSync(path.join(data, 'agent-homes'))).toEqual([]);
    expect(upper()).toBe(false);
  },
);
