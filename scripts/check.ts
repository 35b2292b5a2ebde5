import { execFile } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { localProgram, repositoryRoot } from './local-program.ts';

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** Prints what the tool says also if it succeeds. */
  readonly isShown?: true;
}

/** Longest first. */
const steps: readonly Step[] = [
  {
    name: 'layers, specification coverage, unit tests',
    command: [localProgram('vitest', 'vitest'), 'run', '--project', 'unit'],
  },
  // With the examples, as authors of plans compile theirs: they use most of the sources too.
  types('types', 'tsconfig.check.json'),
  {
    name: 'format and lint',
    command: [localProgram('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.'],
  },
  types('types of the console', 'packages/console'),
  types('types of pure code', 'tsconfig.pure.json'),
  { name: 'unused code', command: [localProgram('knip', 'knip'), '--no-config-hints'] },
  { name: 'licences of dependencies', command: ['scripts/check-licences.ts'] },
  { name: 'generated schemas and documents', command: ['scripts/generate.ts', '--check'] },
];
/** Prerequisites of system tests, for `npm test`. */
const build: readonly Step[] = [
  { name: 'programs of the system', command: ['scripts/system-programs.ts'], isShown: true },
  { name: 'build', command: ['scripts/build.ts'] },
];
/** Enough to keep two cores busy. */
const AT_ONCE = 2;

const { values } = parseArgs({
  options: { unit: { type: 'boolean', default: true }, build: { type: 'boolean', default: false } },
  allowNegative: true,
});
process.exitCode = await check([...(values.unit ? steps : steps.slice(1)), ...(values.build ? build : [])]);

/** The types of a project. The compiler caches its results, and checks again what changed. */
function types(name: string, project: string): Step {
  const kept = path.join(repositoryRoot, 'node_modules/.cache/types', `${path.basename(project, '.json')}.tsbuildinfo`);
  const command = [localProgram('typescript', 'tsc'), '-p', project, '--incremental', '--tsBuildInfoFile', kept];
  return { name, command };
}

/** Runs the steps, and begins none after one that fails. Prints the output of a tool that fails. */
async function check(chosen: readonly Step[]): Promise<number> {
  const started = performance.now();
  const waiting = [...chosen];
  let hasFailed = false;
  const work = async () => {
    for (let step = waiting.shift(); step !== undefined && !hasFailed; step = waiting.shift()) {
      const begun = performance.now();
      const { failure, output } = await ran(step);
      if (step.isShown && output !== '') console.log(output.trimEnd());
      console.log(`${failure === undefined ? 'ok    ' : 'FAILED'} ${seconds(begun)}  ${step.name}`);
      if (failure === undefined) continue;
      hasFailed = true;
      console.error(`\n${failure}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (!hasFailed) console.log(`all ok ${seconds(started)}`);
  return hasFailed ? 1 : 0;
}

async function ran({ command }: Step): Promise<{ readonly failure?: string; readonly output: string }> {
  const env = process.stdout.isTTY ? { FORCE_COLOR: '1', ...process.env } : process.env;
  return new Promise(resolve =>
    execFile(
      process.execPath,
      command,
      { cwd: repositoryRoot, encoding: 'utf8', maxBuffer: 2 ** 30, env },
      (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`;
        resolve(error === null ? { output } : { output, failure: `${output}${error.message}` });
      },
    ),
  );
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(5)} s`;
}
