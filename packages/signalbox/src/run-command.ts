import { usageError } from '@signalbox/app';
import { findRun, type LiveRun, type Machine, type OwnedStore, resumeRun, startRun } from '@signalbox/app/runs';
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags, withStore } from './data-directory-option.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';
import { describeEnd, describeEvent, exitCodeOfEnd } from './run-report.ts';
import { paintOf, reportError, type Terminal } from './terminal.ts';

interface RunFlags extends DataFlags {
  readonly input?: string;
  readonly name?: string;
  readonly tag?: readonly string[];
  readonly correlationId?: string;
}

interface ResumeFlags extends DataFlags {
  readonly useCurrent?: boolean;
}

type Started = Awaited<ReturnType<typeof startRun>>;
type Begin = (owned: OwnedStore, machine: Machine, onStart: (run: LiveRun['id']) => void) => Promise<Started>;

export const defineRun: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Runs a plan. Every step is committed before it is told, so a run that was cut off goes on with "signalbox resume". ' +
        'Ctrl-C pauses: nothing new starts, what runs may finish; a second one stops it.',
    )
    .option('--input <json>', 'what the plan takes, as JSON')
    .option('--name <name>', 'what to call the run, instead of the name of the plan')
    .option('--tag <tag...>', 'words to find it by')
    .option('--correlation-id <id>', 'what it belongs to elsewhere')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print every event as one line of JSON, then how it ended')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox run hello.tsx
  $ signalbox run fix.tsx --input '{"issue": 42}' --tag nightly

Exit codes: 0 completed or paused, 1 failed, stopped or stalled, 2 usage, 3 waiting for a person, 4 refused.`,
    )
    .action(async (plan: string, flags: RunFlags) => {
      const input = parseInput(flags.input);
      if (!input.ok) {
        const suggestion = `Quote it for your shell: --input '{"key": "value"}'.`;
        reportError(terminal, usageError('--input is not JSON.', suggestion), flags.json ?? false);
        return end(exitCodes.usage);
      }
      const { name, tag = [], correlationId } = flags;
      end(
        await follow(terminal, flags, (owned, machine, onStart) =>
          startRun(owned, machine, { file: plan, input: input.value, name, tags: tag, correlationId }, onStart),
        ),
      );
    });
};

export const defineResume: DefineCommand = (command, { terminal, end }) => {
  command
    .description('Goes on where the last commit left the run. What was committed is not done again.')
    .option('--use-current', 'go on with the plan as its files are now, if they changed')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print every event as one line of JSON, then how it ended')
    .addHelpText('after', '\nExample:\n  $ signalbox resume 019b8d62')
    .action(async (given: string, flags: ResumeFlags) => {
      end(
        await follow(terminal, flags, async (owned, machine, onStart) => {
          const record = await findRun(owned.store, given);
          if (!record.ok) return record;
          return resumeRun(owned, machine, record.value, { useCurrent: flags.useCurrent ?? false }, onStart);
        }),
      );
    });
};

/** Begins a run, tells what happens in it, and answers how it ended. */
function follow(terminal: Terminal, flags: DataFlags, begin: Begin): Promise<ExitCode> {
  const paint = paintOf(terminal);
  return withStore(terminal, flags, async (owned, machine) => {
    let live: LiveRun | undefined;
    const begun = await begin(owned, machine, id => {
      owned.store.subscribe(id, ({ events }) => {
        for (const stored of events) {
          const line = flags.json ? JSON.stringify(stored) : describeEvent(stored, live?.tree(), paint);
          if (line !== undefined) terminal.print(line);
        }
      });
    });
    if (!begun.ok) return begun.error;
    live = begun.value;
    // Work may wait for something that the event loop does not know of; the run is what keeps the program alive.
    const alive = setInterval(() => {}, 2 ** 30);
    const release = pauseOnInterrupt(live);
    const ended = await live.finished;
    release();
    clearInterval(alive);
    terminal.print(flags.json ? JSON.stringify({ run: live.id, end: ended }) : describeEnd(ended, live.id, paint));
    return exitCodeOfEnd(ended);
  });
}

/** Ctrl-C pauses, a second one stops. */
function pauseOnInterrupt(live: LiveRun): () => void {
  let interrupts = 0;
  const interrupt = () => (++interrupts === 1 ? live.pause() : live.stop('interrupted'));
  process.on('SIGINT', interrupt);
  return () => void process.off('SIGINT', interrupt);
}

function parseInput(given: string | undefined): { readonly ok: true; readonly value: never } | { readonly ok: false } {
  try {
    // Whatever JSON it is, the plan's own schema says whether it is taken.
    return { ok: true, value: (given === undefined ? {} : JSON.parse(given)) as never };
  } catch {
    return { ok: false };
  }
}
