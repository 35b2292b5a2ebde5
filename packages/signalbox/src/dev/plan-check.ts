import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Json, previewRun, thisMachine } from '@signalbox/app/host';
import { lintPlan } from '@signalbox/plan/lint';
import { describeFindings } from '../lint/lint-report.ts';
import { describePreview } from '../preview-report.ts';
import { type Paint, shown } from '../terminal.ts';

export interface PlanCheck {
  /** For a person to read. */
  readonly text: string;
  /** Whether the plan can be run. Types do not decide that. */
  readonly canRun: boolean;
}

/** Lints a plan, checks its types where TypeScript is installed, and previews its first frame. */
export async function checkPlan(plan: string, input: Json, paint: Paint, ending: AbortSignal): Promise<PlanCheck> {
  const types = typeErrors(plan, ending);
  const linted = lintPlan(plan);
  const findings = linted.ok ? linted.value : [];
  const lines = describeFindings(findings, process.cwd(), paint);
  const isRefused = findings.some(({ severity }) => severity === 'error');
  const preview = isRefused ? undefined : await previewRun(plan, input, thisMachine());
  const wrong = await types;
  const fault = preview === undefined || preview.ok ? undefined : preview.error;
  return {
    text: [
      ...lines,
      ...wrong.map(line => `${paint.bad('type error')} ${shown(line)}`),
      ...(fault === undefined ? [] : [`${paint.bad('error:')} ${shown(fault.message)}`, shown(fault.suggestion)]),
      ...(preview?.ok ? [describePreview(preview.value, paint)] : []),
    ].join('\n'),
    canRun: preview?.ok === true,
  };
}

/** What the project's own type checker says; nothing if it has none. */
async function typeErrors(plan: string, ending: AbortSignal): Promise<readonly string[]> {
  const config = configAbove(path.dirname(path.resolve(plan)));
  const program = config && checkerBeside(config);
  if (config === undefined || program === undefined) return [];
  const child = spawn(process.execPath, [program, '--noEmit', '--pretty', 'false', '-p', config], {
    cwd: path.dirname(config),
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: ending,
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    told += text;
  });
  await new Promise<void>(resolve => child.once('close', () => resolve()).once('error', () => resolve()));
  return told.split('\n').filter(line => line.includes('error TS'));
}

function configAbove(folder: string): string | undefined {
  const config = path.join(folder, 'tsconfig.json');
  if (existsSync(config)) return config;
  const parent = path.dirname(folder);
  return parent === folder ? undefined : configAbove(parent);
}

function checkerBeside(config: string): string | undefined {
  try {
    const manifest = createRequire(config).resolve('typescript/package.json');
    return path.join(path.dirname(manifest), 'bin/tsc');
  } catch {
    return undefined;
  }
}
