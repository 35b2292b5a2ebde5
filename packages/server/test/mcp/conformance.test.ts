import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { thisMachine } from '@signalbox/app/runs';
import { startServer } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { TOKEN } from '../http-asker.ts';
import { scriptedHost } from '../scripted-host.ts';
import expectations from './conformance.json' with { type: 'json' };
import { scriptedGuided } from './scripted-guided.ts';
import { tokenProxy } from './token-proxy.ts';

const program = path.join(import.meta.dirname, '../../../../node_modules/.bin/conformance');
const checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

interface Judged {
  readonly passed: number;
  /** `scenario/check`, in order. */
  readonly failing: readonly string[];
}

describe('the official conformance suite', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    '[V46] passes for %s in everything that the surface serves',
    async revision => {
      const { passed, failing } = await judge(revision);
      const expected = expectations[revision];
      const excused = Object.values(expected.failing).flat().sort();
      expect(failing).toEqual(excused);
      expect(passed).toBe(expected.passed);
    },
  );
});

async function judge(revision: string): Promise<Judged> {
  const results = mkdtempSync(path.join(tmpdir(), 'conformance-'));
  onTestFinished(() => rmSync(results, { recursive: true, force: true }));
  const started = await startServer({
    host: scriptedHost(),
    guided: scriptedGuided(),
    token: TOKEN,
    port: 0,
    timers: thisMachine().timers,
  });
  if (!started.ok) throw new Error(started.error.message);
  onTestFinished(() => started.value.close());
  const proxy = await tokenProxy(new URL(started.value.url), TOKEN);
  onTestFinished(() => proxy.close());
  const suite = spawn(
    process.execPath,
    [program, 'server', '--url', `${proxy.url}/mcp/agent`, '--requirements', revision, '-o', results],
    { stdio: 'ignore' },
  );
  await new Promise((resolve, reject) => suite.once('error', reject).once('close', resolve));

  const judged = readdirSync(results).flatMap(folder => {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    const found = checks.parse(JSON.parse(readFileSync(path.join(results, folder, 'checks.json'), 'utf8')));
    return found.map(({ id, status }) => ({ name: `${scenario}/${id}`, status }));
  });
  return {
    passed: judged.filter(({ status }) => status === 'SUCCESS').length,
    failing: judged
      .filter(({ status }) => status === 'FAILURE')
      .map(({ name }) => name)
      .sort(),
  };
}
