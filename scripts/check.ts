import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { localProgram, repositoryRoot } from './local-program.ts';

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

const steps: readonly Step[] = [
  {
    name: 'format and lint',
    command: [localProgram('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.'],
  },
  { name: 'types', command: [localProgram('typescript', 'tsc'), '-p', 'tsconfig.json'] },
  { name: 'types of examples', command: [localProgram('typescript', 'tsc'), '-p', 'examples'] },
  { name: 'types of the console', command: [localProgram('typescript', 'tsc'), '-p', 'packages/console'] },
  { name: 'types of pure code', command: [localProgram('typescript', 'tsc'), '-p', 'tsconfig.pure.json'] },
  { name: 'licences of dependencies', command: ['scripts/check-licences.ts'] },
  { name: 'generated schemas and documents', command: ['scripts/generate.ts', '--check'] },
  {
    name: 'layers, specification coverage, unit tests',
    command: [localProgram('vitest', 'vitest'), 'run', '--project', 'unit'],
  },
];

const { values } = parseArgs({ options: { unit: { type: 'boolean', default: true } }, allowNegative: true });
process.exitCode = check(values.unit ? steps : steps.slice(0, -1));

/** Runs the steps in order and stops at the first that fails, with the tool's own output. */
function check(chosen: readonly Step[]): number {
  const started = performance.now();
  for (const step of chosen) {
    const begun = performance.now();
    const run = spawnSync(process.execPath, step.command, {
      cwd: repositoryRoot,
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      env: process.stdout.isTTY ? { FORCE_COLOR: '1', ...process.env } : process.env,
    });
    const passed = run.status === 0;
    console.log(`${passed ? 'ok    ' : 'FAILED'} ${seconds(begun)}  ${step.name}`);
    if (!passed) {
      console.error(`\n${run.stdout}${run.stderr}${run.error?.message ?? ''}`);
      return 1;
    }
  }
  console.log(`all ok ${seconds(started)}`);
  return 0;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(5)} s`;
}
