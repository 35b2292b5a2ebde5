import type { Command } from 'commander';
import { commands } from '../src/commands.ts';
import { main } from '../src/main.ts';
import { buildProgram, nameOf } from '../src/program.ts';
import { memoryTerminal } from './memory-terminal.ts';

/** A sample value for each argument. */
const SAMPLES: Readonly<Record<string, string>> = {
  run: '0190a0a0-0000-7000-8000-000000000000',
  id: '0190a0a0-0000-7000-8000-000000000000',
  dir: '0190a0a0-0000-7000-8000-000000000000',
  decision: '0190a0a0-0000-5000-8000-000000000000',
  session: 'sess_0000000000000000',
  gap: 'gap_0000000000000000',
  user: 'ada',
  agent: '0190a0a0-0000-7000-8000-000000000000',
  name: 'ada',
  client: 'claude',
  key: 'key',
  task: 'do nothing',
  node: 'node',
  call: 'call',
  text: 'anything',
  a: '0190a0a0-0000-7000-8000-000000000000',
  b: '0190a0a0-0000-7000-8000-000000000000',
  target: 'backup-of-nothing',
  backup: 'no-backup',
  scope: 'day',
};

/** Options without which a command is not one that could be obeyed. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  edit: ['1', '--reason', 'why'],
  fork: ['--frame', '1'],
  rollback: ['--to', 'call'],
  answer: ['--approve'],
  approve: ['0190a0a0-0000-5000-8000-000000000000'],
  deny: ['0190a0a0-0000-5000-8000-000000000000'],
  'limits set': ['--max-tokens', '1000'],
};

export interface DataCommand {
  /** As people call it: `users add`. */
  readonly name: string;
  /** Its command line, but for the data directory. */
  readonly args: readonly string[];
}

/** Every command that opens a data directory. */
export async function dataCommands(samples: Readonly<Record<string, string>> = {}): Promise<readonly DataCommand[]> {
  const found: DataCommand[] = [];
  const visit = (command: Command, above: readonly string[]) => {
    const names = [...above, command.name()];
    for (const inner of command.commands) visit(inner, names);
    if (!command.options.some(({ long }) => long === '--data-dir')) return;
    const given = command.registeredArguments.flatMap(argument => {
      if (!argument.required) return [];
      const sample = samples[argument.name()] ?? SAMPLES[argument.name()];
      if (sample === undefined) throw new Error(`${names.join(' ')} takes <${argument.name()}>: give it a sample`);
      return [sample];
    });
    const json = command.options.some(({ long }) => long === '--json') ? ['--json'] : [];
    const name = names.join(' ');
    found.push({ name, args: [...names, ...given, ...(NEEDED[name] ?? []), ...json] });
  };
  for (const entry of commands) {
    const program = await buildProgram(commands, entry, {
      terminal: memoryTerminal(),
      signals: { ending: () => new AbortController().signal },
      self: ['signalbox'],
      end() {},
    });
    const name = nameOf(entry);
    const command = program.commands.find(one => one.name() === name);
    // The doctor says what is wrong with a directory, and init looks for agents in it: neither refuses one.
    if (command !== undefined && name !== 'doctor' && name !== 'init') visit(command, []);
  }
  return found;
}

/** Calls the program in this process. */
export async function called(args: readonly string[]) {
  const terminal = memoryTerminal();
  const code = await main(args, terminal);
  return { code, said: [...terminal.printed, ...terminal.complaints].join('\n') };
}
