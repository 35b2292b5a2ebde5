import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entry, ownEnvironment, temporaryFolder } from './program.ts';

interface Run {
  readonly record: { readonly name: string; readonly status: string; readonly origin?: { readonly kind: string } };
}

describe('signalbox demo', () => {
  it('[X17] [X99] serves runs of every kind, and leaves nothing behind when it is interrupted', async () => {
    const cwd = temporaryFolder();
    const child = spawn(process.execPath, [entry, 'demo', '--no-open', '--json'], {
      cwd,
      env: ownEnvironment(cwd),
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    const ended = new Promise<number | null>(resolve => child.once('close', resolve));
    try {
      const { url, page } = JSON.parse(await firstLine(child.stdout)) as { url: string; page: string };
      const headers = { authorization: `Bearer ${page.split('#token=')[1]}` };
      const { runs } = (await (await fetch(`${url}/api/runs`, { headers })).json()) as { runs: readonly Run[] };
      const seen = runs.map(({ record }) => [record.name, record.status]);
      expect(seen).toContainEqual(['import-orders', 'failed']);
      expect(seen).toContainEqual(['watch-prices', 'completed']);
      expect(seen).toContainEqual(['watch-prices, from frame 4', 'completed']);
      for (const name of ['release', 'weekly-report']) expect(seen.map(([own]) => own)).toContain(name);
      expect(runs.map(({ record }) => record.origin?.kind)).toEqual(expect.arrayContaining(['fork', 'import']));
      const { users } = (await (await fetch(`${url}/api/users`, { headers })).json()) as { users: readonly object[] };
      expect(users).toMatchObject([{ name: 'ada' }]);
      const { agents } = (await (await fetch(`${url}/api/agents`, { headers })).json()) as {
        agents: readonly { readonly name: string }[];
      };
      // Those of the scenario, and those of runs that work by then.
      expect(agents.map(({ name }) => name)).toEqual(expect.arrayContaining(['backend', 'frontend', 'tests']));
      child.kill('SIGINT');
      expect(await ended).toBe(130);
      expect(readdirSync(cwd).filter(name => name.startsWith('signalbox-demo'))).toEqual([]);
    } finally {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }
  });
});

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', chunk => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    stream.on('end', () => reject(new Error(`it ended after: ${text}`)));
  });
}
