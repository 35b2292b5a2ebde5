import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import * as z from 'zod';

const program = path.join(import.meta.dirname, '../../../../node_modules/.bin/conformance');
const checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

/** `scenario/check`, in order. */
export interface Judged {
  readonly passed: readonly string[];
  readonly failing: readonly string[];
}

/** The verdict of the official conformance suite on a server. */
export async function judge(url: string, options: readonly string[]): Promise<Judged> {
  const results = mkdtempSync(path.join(tmpdir(), 'conformance-'));
  onTestFinished(() => rmSync(results, { recursive: true, force: true }));
  const args = [program, 'server', '--url', url, ...options, '--timeout', '240000', '-o', results];
  const suite = spawn(process.execPath, args, { stdio: 'ignore' });
  await new Promise((resolve, reject) => suite.once('error', reject).once('close', resolve));

  const judged = readdirSync(results).flatMap(folder => {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    const found = checks.parse(JSON.parse(readFileSync(path.join(results, folder, 'checks.json'), 'utf8')));
    return found.map(({ id, status }) => ({ name: `${scenario}/${id}`, status }));
  });
  const named = (wanted: string) =>
    judged
      .filter(({ status }) => status === wanted)
      .map(({ name }) => name)
      .sort();
  return { passed: named('SUCCESS'), failing: named('FAILURE') };
}
