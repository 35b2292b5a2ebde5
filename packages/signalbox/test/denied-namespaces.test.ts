import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { entry, ownEnvironment, PATIENCE_MS, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
/** Nobody's, and no other run's: limits count the processes of a user. */
const ORDINARY = 100_000 + process.pid;
/** A user namespace in which no other one can be created, without the rights of its first process. */
const DENIED = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"';

function given() {
  const place = fs.mkdtempSync(path.join(folder, 'denied-'));
  const [data, work] = [path.join(place, 'data'), path.join(place, 'work')];
  for (const one of [data, work]) fs.mkdirSync(one, { mode: 0o700 });
  const configure = (commands?: object) => {
    const agents = { echo: { command: [process.execPath, echoAgentProgram], title: 'Echo' } };
    fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents, ...(commands && { commands }) }));
  };
  configure();
  fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
  const isRoot = process.getuid?.() === 0;
  if (isRoot)
    for (const one of [folder, place, data, work, `${data}/config.json`, `${work}/a.txt`])
      fs.chownSync(one, ORDINARY, ORDINARY);
  const run = (...args: readonly string[]) => {
    const command = [process.execPath, entry, ...args, '--data-dir', data];
    const { status, stdout, stderr } = spawnSync('unshare', ['-U', '-r', 'sh', '-c', DENIED, 'sh', ...command], {
      ...{ cwd: work, env: ownEnvironment(place), encoding: 'utf8', timeout: PATIENCE_MS, killSignal: 'SIGKILL' },
      ...(isRoot && { uid: ORDINARY, gid: ORDINARY }),
    });
    return { status, stdout, stderr };
  };
  return { run, configure, content: () => fs.readFileSync(path.join(work, 'a.txt'), 'utf8') };
}

const allowed: EchoStep[] = [{ do: 'append', file: 'a.txt', text: 'edited' }];
const edit: EchoStep = { do: 'ask', id: 'e', kind: 'edit', title: 'Edit a.txt', input: { file: 'a.txt' }, allowed };

it.skipIf(!hasLayers)(
  '[A931] an agent of a user who may not create namespaces is refused, or works on a copy and asks',
  () => {
    const { run, configure, content } = given();
    const task = echoPrompt([edit, { do: 'say', text: 'Done.' }]);
    const refused = run('do', task);
    expect(refused).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('commands cannot be confined on this machine'),
    });
    expect(run('agents', 'doctor')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('See what is missing with: signalbox doctor'),
    });

    configure({ allowUnconfined: true });
    expect(run('agents', 'doctor')).toMatchObject({ status: 0, stdout: expect.stringContaining('completed a turn') });
    const asked = run('do', task, '--apply', 'auto');
    expect(asked).toMatchObject({
      status: 3,
      stdout: expect.stringContaining('cannot have layers: agents run unconfined here'),
    });
    expect(content()).toBe('first\n');
    const answered = run('approve', /signalbox approve (\S+)/.exec(asked.stdout)?.[1] ?? '');
    const id = /signalbox resume (\S+)/.exec(answered.stdout)?.[1] ?? '';
    expect(run('resume', id)).toMatchObject({ status: 0 });
    expect(content()).toBe('first\nedited\n');
  },
);
