import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ErrorEnvelope, usageError } from '@signalbox/app';
import {
  checkWorkflow,
  isOwnId,
  listBuiltins,
  openGuidedTools,
  renamedSource,
  sourceJsonSchema,
  trialScript,
  tryWorkflow,
  workflowSource,
} from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import type { Command } from 'commander';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { paintOf, shown, type Terminal } from '../terminal.ts';
import { describeCheck, reportOf } from './workflow-check-report.ts';
import { remoteRefusal, WORKFLOWS_OPTION, type WorkflowFlags, workflowPlaces } from './workflow-places.ts';

export type Answer = <F extends WorkflowFlags>(flags: F, act: () => Promise<ExitCode | ErrorEnvelope>) => Promise<void>;

interface ToFlags extends WorkflowFlags {
  readonly to?: string;
}

const TO_OPTION = ['--to <dir>', 'write there instead of .signalbox/workflows'] as const;
const folderOf = ({ to }: ToFlags) => path.resolve(to ?? path.join('.signalbox', 'workflows'));

/** The subcommands for people who write workflows. */
export function defineAuthoring(command: Command, terminal: Terminal, answer: Answer): void {
  command
    .command('builtins')
    .summary('list what workflows can use by name: contracts, features, refs, templates, …')
    .description('Lists everything that workflows can use by name, from the tables of the compiler, with its purpose.')
    .option('--kind <kind>', 'only one kind: contract, feature, ref, template, capability, …')
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print one JSON object per line, with shapes')
    .action((flags: WorkflowFlags & { readonly kind?: string }) =>
      answer(flags, async () => {
        const all = await listBuiltins(workflowPlaces(flags.workflows));
        const kinds = [...new Set(all.map(({ kind }) => String(kind)))];
        if (flags.kind !== undefined && !kinds.includes(flags.kind)) {
          return usageError(`There is no kind "${flags.kind}".`, `The kinds are ${kinds.join(', ')}.`);
        }
        for (const each of all.filter(({ kind }) => flags.kind === undefined || kind === flags.kind)) {
          const line = `${each.kind.padEnd(18)}  ${each.id.padEnd(44)}  ${shown(each.purpose)}`;
          terminal.print(flags.json ? JSON.stringify(each) : line);
        }
        return exitCodes.done;
      }),
    );

  command
    .command('schema')
    .summary('print the JSON Schema of workflow files')
    .description(
      'Prints the JSON Schema of workflow files, for editors. "workflow new" writes it beside the folder of workflows, and "$schema" names it.',
    )
    .action(() =>
      answer({}, async () => {
        terminal.print(JSON.stringify(sourceJsonSchema(), null, 2));
        return exitCodes.done;
      }),
    );

  command
    .command('new <id>')
    .summary('write a workflow to start from')
    .description('Writes a workflow with the given steps, ready to be run and changed.')
    .option('--name <name>', 'for people; by default from the id')
    .option('--description <text>', 'what it is for; agents choose by it')
    .option('--step <title...>', 'the steps, in order')
    .option(...TO_OPTION)
    .option('--json', 'print the file name as JSON')
    .action((id: string, flags: ToFlags & NewFlags) =>
      answer(flags, async () => {
        if (!isOwnId(id)) return notOwn(id);
        const saved = save(flags, `${id.slice(id.indexOf('.') + 1)}.json`, firstWorkflow(id, flags));
        if (saved === exitCodes.done) writeSchema(path.resolve(folderOf(flags), SCHEMA_REF));
        return saved;
      }),
    );

  command
    .command('copy <id> <newId>')
    .summary('copy a workflow into a namespace of your own')
    .description('Copies a workflow, a bundled one too, into a namespace of your own, where you can change it.')
    .option(...TO_OPTION)
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print the file name as JSON')
    .action((id: string, newId: string, flags: ToFlags) =>
      answer(flags, async () => {
        if (!isOwnId(newId)) return notOwn(newId);
        const remote = remoteRefusal(id);
        if (remote !== undefined) return remote;
        const found = await workflowSource(id, workflowPlaces(flags.workflows));
        if (!found.ok) return found.error;
        const { source, isRoutine } = found.value;
        const name = `${newId.slice(newId.indexOf('.') + 1)}.json`;
        const names = new Map([[String(source.id), newId]]);
        return save(flags, isRoutine ? path.join('routines', name) : name, renamedSource(source, names));
      }),
    );

  command
    .command('import <dir>')
    .summary('bring a folder of workflow files over, and report file by file')
    .description(
      'Copies every workflow file of a folder, checked, into a namespace of this project: ids of the wr namespace and ids without one become ' +
        'project.NAME, and references to them follow. A file that cannot be run is reported and left out.',
    )
    .option('--namespace <name>', 'the namespace of renamed workflows', 'project')
    .option(...TO_OPTION)
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print one JSON object per file')
    .action((directory: string, flags: ToFlags & { readonly namespace: string }) =>
      answer(flags, () => importAll(directory, flags)),
    );

  command
    .command('test <file|id>')
    .summary('walk a workflow with scripted answers, and check its order')
    .description(
      'Walks a workflow with the answers of a file in a temporary data directory: shows each prompt, and fails at the first difference.',
    )
    .requiredOption(
      '--answers <file>',
      'JSON: {"context"?, "steps": [{"step", "notes"?, "artifacts"?, "context"?, "blocked"?}]}',
    )
    .option('--quiet', 'do not show the prompts')
    .option(...WORKFLOWS_OPTION)
    .option('--json', 'print the outcome as JSON')
    .action((target: string, flags: WorkflowFlags & { readonly answers: string; readonly quiet?: boolean }) =>
      answer(flags, () => tryOne(target, flags)),
    );

  function save(flags: ToFlags, name: string, source: object): ExitCode | ErrorEnvelope {
    const file = path.join(folderOf(flags), name);
    if (existsSync(file)) return usageError(`${file} exists.`, 'Give another id, or remove the file first.');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(source, null, 2)}\n`);
    terminal.print(
      flags.json ? JSON.stringify({ file }) : `Wrote ${file}. Check it with: signalbox workflow validate ${file}`,
    );
    return exitCodes.done;
  }

  async function importAll(directory: string, flags: ToFlags & { readonly namespace: string }) {
    const remote = remoteRefusal(directory);
    if (remote !== undefined) return remote;
    if (!existsSync(directory))
      return usageError(`There is no directory ${directory}.`, 'Name a folder of workflow files.');
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.json'))
      .sort();
    const sources = files.map(name => ({ name, source: parsed(readFileSync(path.join(directory, name), 'utf8')) }));
    const names = new Map(
      sources.flatMap(({ source }) => {
        const id = (source as { readonly id?: unknown } | undefined)?.id;
        if (typeof id !== 'string' || isOwnId(id)) return [];
        return [
          [
            id,
            `${flags.namespace}.${id
              .slice(id.indexOf('.') + 1)
              .toLowerCase()
              .replaceAll(/[^a-z0-9_-]+/g, '_')}`,
          ],
        ];
      }) as [string, string][],
    );
    const folder = folderOf(flags);
    let refused = 0;
    const tell = (name: string, status: string, why: string) => {
      if (status === 'refused') refused++;
      terminal.print(
        flags.json ? JSON.stringify({ file: name, status, why }) : `${status.padEnd(8)}  ${shown(name)}  ${shown(why)}`,
      );
    };
    // Routines first: the others are checked with them.
    const isRoutine = (name: string) => name.split(path.sep).includes('routines');
    for (const { name, source } of sources.toSorted((a, b) => Number(isRoutine(b.name)) - Number(isRoutine(a.name)))) {
      if (source === undefined || !('id' in source) || !('steps' in source)) {
        tell(name, 'refused', 'It is no workflow.');
        continue;
      }
      const file = path.join(folder, name);
      if (existsSync(file)) {
        tell(name, 'refused', `${file} exists.`);
        continue;
      }
      mkdirSync(path.dirname(file), { recursive: true });
      const renamed = renamedSource(source as never, names);
      writeFileSync(file, `${JSON.stringify(renamed, null, 2)}\n`);
      const places = [{ kind: 'project', directory: folder } as const, ...workflowPlaces(flags.workflows)];
      const checked = await checkWorkflow(file, { directories: places, mode: 'load' });
      const report = checked.ok ? reportOf(checked.value) : undefined;
      const problems = report?.problems ?? [];
      if (report?.ok !== true) {
        rmSync(file);
        const [first] = problems.filter(({ severity }) => severity === 'error');
        tell(name, 'refused', checked.ok ? `${first?.path || '/'}: ${first?.message ?? ''}` : checked.error.message);
      } else
        tell(name, 'imported', `${String(renamed.id)}${problems.length > 0 ? `, ${problems.length} warnings` : ''}`);
    }
    return refused > 0 ? exitCodes.failed : exitCodes.done;
  }

  async function tryOne(target: string, flags: WorkflowFlags & { readonly answers: string; readonly quiet?: boolean }) {
    const remote = remoteRefusal(target);
    if (remote !== undefined) return remote;
    const help = 'See "signalbox workflow test --help".';
    if (!existsSync(flags.answers)) return usageError(`There is no file ${flags.answers}.`, help);
    const given = parsed(readFileSync(flags.answers, 'utf8'));
    if (given === undefined) return usageError(`${flags.answers} is not a JSON object.`, help);
    const script = trialScript.safeParse(given);
    if (!script.success) {
      const problems = script.error.issues.map(({ path: at, message }) =>
        at.length === 0 ? message : `${at.join('.')}: ${message}`,
      );
      return usageError(`The answers in ${flags.answers} cannot be used. ${problems.join('; ')}.`, help);
    }
    const checked = await checkWorkflow(target, { directories: workflowPlaces(flags.workflows), mode: 'load' });
    if (!checked.ok) return checked.error;
    if (!checked.value.ok) {
      terminal.complain(describeCheck(target, reportOf(checked.value), paintOf(terminal)));
      return exitCodes.failed;
    }
    const { workflowId } = checked.value.value.snapshot;
    const dataDirectory = mkdtempSync(path.join(tmpdir(), 'signalbox-test-'));
    try {
      const isFile = existsSync(target);
      const own = isFile ? [{ kind: 'project', directory: path.dirname(path.resolve(target)) } as const] : [];
      const directories = [...own, ...workflowPlaces(flags.workflows)];
      const tools = openGuidedTools({ dataDirectory, directories, machine: thisMachine() });
      const trial = await tryWorkflow(tools, workflowId, script.data);
      if (!trial.ok) return trial.error;
      const { steps, fault } = trial.value;
      if (flags.json) terminal.print(JSON.stringify(trial.value));
      else if (!flags.quiet) for (const { step, prompt } of steps) terminal.print(`# ${shown(step)}\n\n${prompt}\n`);
      if (fault !== undefined) terminal.complain(fault);
      else if (!flags.json) terminal.print(`${workflowId}: ${steps.length} steps as expected, to the end.`);
      return fault === undefined ? exitCodes.done : exitCodes.failed;
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true });
    }
  }
}

/** Beside the folder of workflows, in which every JSON file is one. */
const SCHEMA_REF = '../workflow.schema.json';

function writeSchema(file: string): void {
  writeFileSync(file, `${JSON.stringify(sourceJsonSchema(), null, 2)}\n`);
}

interface NewFlags {
  readonly name?: string;
  readonly description?: string;
  readonly step?: readonly string[];
}

/** A workflow that runs as it is: each step asks for evidence, and says where to change it. */
function firstWorkflow(id: string, { name, description, step = ['Understand', 'Do', 'Check'] }: NewFlags) {
  const titled = id.slice(id.indexOf('.') + 1).replaceAll(/[-_]+/g, ' ');
  return {
    $schema: SCHEMA_REF,
    id,
    name: name ?? `${titled[0]?.toUpperCase() ?? ''}${titled.slice(1)}`,
    description: description ?? `Say here what ${titled} is for; agents choose by it.`,
    version: '1.0.0',
    steps: step.map((title, index) => ({
      id:
        title
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, '-')
          .replaceAll(/^-+|-+$/g, '') || `step-${index + 1}`,
      title,
      prompt: `${title}: say here what the agent does in this step, and what it must not do.`,
      validationCriteria: [{ type: 'length', min: 80, message: 'Say what you did and what came of it' }],
    })),
  };
}

function notOwn(id: string): ErrorEnvelope {
  return usageError(
    `"${id}" is no id of your own: it is namespace.name, each of a-z, 0-9, _ and -, and "wr" is reserved.`,
    'Use an id such as "team.triage".',
  );
}

export function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
