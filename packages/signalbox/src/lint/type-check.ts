import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { localFilesOf } from '@signalbox/plan/lint';
import type { Problem } from './lint-report.ts';

export interface TypeCheck {
  readonly problems: readonly Problem[];
  /** Why types were not checked, and what to do; each reason once. */
  readonly notes: readonly string[];
}

/** Checks the types of plans and of the local files that they import with the TypeScript of their own project. */
export async function checkTypes(plans: readonly string[], ending: AbortSignal): Promise<TypeCheck> {
  const byConfig = Map.groupBy(plans, plan => configAbove(path.dirname(path.resolve(plan))));
  const checked = await Promise.all([...byConfig].map(([config, own]) => checkProject(config, own, ending)));
  return {
    problems: checked.flatMap(({ problems }) => problems),
    notes: [...new Set(checked.flatMap(({ notes }) => notes))],
  };
}

async function checkProject(
  config: string | undefined,
  plans: readonly string[],
  ending: AbortSignal,
): Promise<TypeCheck> {
  const names = plans.map(plan => path.basename(plan)).join(', ');
  const unchecked = (why: string) => ({ problems: [], notes: [`Types were not checked: ${why}`] });
  if (config === undefined)
    return unchecked(`there is no tsconfig.json above ${names}. "signalbox init" writes one into a new folder.`);
  const program = checkerBeside(config);
  const folder = path.dirname(config);
  if (program === undefined)
    return unchecked(`TypeScript is not installed in ${folder}. Install it there: npm install --save-dev typescript`);
  const told = await outputOf(program, config, ending);
  if (ending.aborted) return { problems: [], notes: [] };
  const lines = told.split(/\r?\n/);
  const listed = new Set(lines.filter(line => path.isAbsolute(line)).map(realOf));
  const files = new Set(plans.flatMap(plan => localFilesOf(plan)));
  const left = plans.filter(plan => !listed.has(realOf(path.resolve(plan))));
  const problems = problemsIn(lines, folder);
  // Without the types of the API everything in a plan is wrong.
  if (problems.some(({ message }) => message.startsWith("Cannot find module 'signalbox'")))
    return unchecked(`signalbox is not installed in ${folder}. Install it there: npm install --save-dev signalbox zod`);
  // What is wrong with the configuration has its place there, or none.
  const general = [
    ...lines.filter(line => /^error TS\d+: /.test(line)).map(line => line.replace(/^error (TS\d+): /, '$1 ')),
    ...problems
      .filter(({ file }) => file === realOf(config))
      .map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`),
  ];
  return {
    problems: general.length > 0 ? [] : problems.filter(({ file }) => files.has(file)),
    notes: [
      ...general.map(line => `Types were not checked: ${line}`),
      ...(general.length === 0 && left.length > 0
        ? [`Types were not checked: ${config} does not include ${left.map(plan => path.basename(plan)).join(', ')}.`]
        : []),
    ],
  };
}

const PLACE = /^(.+?)\((\d+),(\d+)\): (error|warning) (TS\d+): (.*)$/;

/** A line for each problem; lines that are indented go on with the one before. */
function problemsIn(lines: readonly string[], folder: string): readonly Problem[] {
  const problems: Problem[] = [];
  for (const line of lines) {
    const [, file = '', row, column, severity, rule = '', message = ''] = PLACE.exec(line) ?? [];
    const last = problems.at(-1);
    if (file !== '') {
      problems.push({
        file: realOf(path.resolve(folder, file)),
        line: Number(row),
        column: Number(column),
        severity: severity as Problem['severity'],
        rule,
        message,
        mend: mendOf(message),
      });
    } else if (last !== undefined && /^\s+\S/.test(line)) {
      problems[problems.length - 1] = { ...last, message: `${last.message} ${line.trim()}` };
    }
  }
  return problems;
}

function mendOf(message: string): string {
  const [, name] = /^Cannot find module '([^'.][^']*)'/.exec(message) ?? [];
  if (name !== undefined) return `Install it beside the plan: npm install --save-dev ${name}`;
  return 'Correct the types; --no-types lints without them.';
}

/** Prints every file that it looks at, too. */
async function outputOf(program: string, config: string, ending: AbortSignal): Promise<string> {
  const options = ['--noEmit', '--pretty', 'false', '--incremental', 'false', '--composite', 'false', '--listFiles'];
  const child = spawn(process.execPath, [program, ...options, '-p', config], {
    cwd: path.dirname(config),
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: ending,
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    told += text;
  });
  await new Promise<void>(resolve => child.once('close', () => resolve()).once('error', () => resolve()));
  return told;
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
    const program = path.join(path.dirname(manifest), 'bin/tsc');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
