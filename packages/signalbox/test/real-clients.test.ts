import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { openGuidedSessions } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
import { agentsCache, cachedAgent, isLeftOut } from '../../../scripts/agents-cache.ts';
import { AGENT_ROWS } from '../../adapters/src/acp/index.ts';
import { entry } from './program.ts';
import { realClients, walker } from './real-client.ts';

const WORKFLOW = 'wr.research';

const cache = agentsCache();
const directories = new Map<string, string>();
for (const row of AGENT_ROWS) {
  const agent = await cachedAgent(row, cache);
  if (agent?.directory !== undefined) directories.set(row.id, path.join(cache, `${row.id}-${row.package?.version}`));
}

describe.each(realClients)('$id', client => {
  const directory = directories.get(client.id);

  it.skipIf(isLeftOut(directory !== undefined, true))(
    '[X105] lists signalbox as it was installed, and walks a bundled workflow to its end',
    async () => {
      // Not below the directory for temporary files: some refuse a home there.
      const base = fs.realpathSync(fs.mkdtempSync(path.join(cache, '.client-')));
      const [home, project, data] = ['home', 'project', 'data'].map(name => path.join(base, name)) as [
        string,
        string,
        string,
      ];
      for (const one of [home, project, data]) fs.mkdirSync(one);
      fs.writeFileSync(
        path.join(data, 'config.json'),
        JSON.stringify({ workflows: { autonomy: 'full_auto_never_stop' } }),
      );
      fs.chmodSync(data, 0o700);
      const model = await startModelServer(walker(WORKFLOW));
      const { home: homeFiles = {}, project: projectFiles = {} } = client.files(model.url);
      for (const [under, files] of [
        [home, homeFiles],
        [project, projectFiles],
      ] as const) {
        for (const [file, content] of Object.entries(files)) {
          fs.mkdirSync(path.dirname(path.join(under, file)), { recursive: true });
          fs.writeFileSync(path.join(under, file), typeof content === 'string' ? content : JSON.stringify(content));
        }
      }
      const env = {
        PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: home,
        LANG: 'C.UTF-8',
        ...client.env(home, model.url),
      };
      const said: string[] = [];
      onTestFailed(() => {
        const asked = model.requests.map(request => JSON.stringify(request).slice(-3_000));
        console.error([client.id, ...said, ...asked].join('\n'));
      });
      onTestFinished(async () => {
        await model.close();
        fs.rmSync(base, { recursive: true, force: true, maxRetries: 20 });
      });
      const start = async (command: string, args: readonly string[]) => {
        const ended = await run(command, args, project, env);
        said.push(`${path.basename(command)} ${args.join(' ')}\n${ended.told}`);
        return ended;
      };

      const installed = await start(process.execPath, [
        entry,
        'mcp',
        'install',
        client.id,
        '--no-check',
        '--data-dir',
        data,
      ]);
      expect(installed.status).toBe(0);
      client.wait?.(project);
      const program = path.join(directory ?? '', client.program);
      expect((await start(program, client.list)).told).toMatch(client.isListed);
      await start(program, client.run('Walk the guided workflow on research.', model.url));

      const listed = openGuidedSessions({ dataDirectory: data, directories: [], machine: thisMachine() }).list();
      if (!listed.ok) throw new Error(listed.error.message);
      expect(listed.value.flatMap(({ runs }) => runs.map(({ workflowId, status }) => [workflowId, status]))).toEqual([
        [WORKFLOW, expect.stringMatching(/^complete/)],
      ]);
    },
  );
});

interface Ended {
  readonly status: number | null;
  readonly told: string;
}

/** Runs a program in a group of its own, so that nothing that it started outlives the test. */
function run(command: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<Ended> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const stop = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  };
  onTestFinished(stop);
  let told = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', status => {
      stop();
      resolve({ status, told });
    });
  });
}
