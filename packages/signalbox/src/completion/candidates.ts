import path from 'node:path';
import { shortId } from '@signalbox/app';
import { openReader, type Reader } from '@signalbox/app/host';
import { Command } from 'commander';
import type { CommandContext } from '../command.ts';
import { askedDataDirectory } from '../data-directory-option.ts';
import { nameOf } from '../program.ts';
import { shown } from '../terminal.ts';

interface Candidate {
  readonly text: string;
  readonly what: string;
}

/** How many runs and decisions are offered at most. */
const MOST = 50;

/** What could stand in the place of the last word. Empty where only the shell knows: files and free text. */
export async function candidates(words: readonly string[], context: CommandContext): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? '';
  const found = await offered(words.slice(0, -1), typed, context);
  return found.filter(({ text }) => text.startsWith(typed)).map(one => ({ ...one, what: shown(one.what) }));
}

async function offered(
  before: readonly string[],
  typed: string,
  context: CommandContext,
): Promise<readonly Candidate[]> {
  // The table of commands names this one: it is read when it is needed.
  const { commands } = await import('../commands.ts');
  const [name, ...given] = before;
  const visible = commands.filter(({ group }) => group !== undefined);
  if (name === undefined) return visible.map(entry => ({ text: nameOf(entry), what: entry.summary }));
  const entry = visible.find(one => nameOf(one) === name);
  if (entry === undefined) return [];
  const command = new Command(name);
  for (const argument of entry.syntax.split(' ').slice(1)) command.argument(argument);
  (await entry.load())(command, context);
  const { called, args } = descend(command, given);
  if (typed.startsWith('-')) {
    return called.options.map(({ long, short, description }) => ({ text: long ?? short ?? '', what: description }));
  }
  const subcommands = called.commands.map(one => ({ text: one.name(), what: one.description() }));
  const argument = called.registeredArguments[args.length];
  const value = argument?.name();
  return [...subcommands, ...(value === undefined ? [] : await stored(value, dataDirOf(given)))];
}

/** Follows the subcommands that were given; what is left are arguments. Values of options are not told from arguments unless they follow them. */
function descend(command: Command, given: readonly string[]): { readonly called: Command; readonly args: string[] } {
  let called = command;
  const args: string[] = [];
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index] ?? '';
    const option = called.options.find(({ long, short }) => long === word || short === word);
    if (option !== undefined) {
      if (option.required) index += 1;
      continue;
    }
    const next = args.length === 0 ? called.commands.find(one => one.name() === word) : undefined;
    if (next === undefined) args.push(word);
    else called = next;
  }
  return { called, args };
}

function dataDirOf(given: readonly string[]): string | undefined {
  const at = given.indexOf('--data-dir');
  return at === -1 ? undefined : given[at + 1];
}

/** The runs or decisions that an argument of this name may be. */
async function stored(argument: string, dataDir: string | undefined): Promise<readonly Candidate[]> {
  if (argument !== 'run' && argument !== 'decision') return [];
  const opened = openReader({ path: path.join(askedDataDirectory(dataDir), 'db.sqlite') });
  if (!opened.ok) return [];
  try {
    return argument === 'run' ? await newestRuns(opened.value) : await openDecisions(opened.value);
  } finally {
    opened.value.close();
  }
}

async function newestRuns(reader: Reader): Promise<readonly Candidate[]> {
  const { items } = await reader.runs({ limit: MOST });
  return [
    ...items.map(({ id, name, status }) => ({ text: shortId(id), what: `${name}, ${status}` })),
    { text: '@last', what: 'the newest run' },
    { text: '@failed', what: 'the newest run that failed' },
  ];
}

async function openDecisions(reader: Reader): Promise<readonly Candidate[]> {
  const open = await reader.decisions({ status: ['open'], limit: MOST });
  return open.map(({ run, decision }) => ({
    text: shortId(decision.id),
    what: `${decision.kind} of run ${shortId(run)}`,
  }));
}
