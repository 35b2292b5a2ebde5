import type { ErrorEnvelope, OwnedStore, RunRecord } from '@signalbox/app/runs';
import type { Command } from 'commander';
import type { AddCommand, CommandContext } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags, withStore } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { describeTree } from './run-report.ts';
import { paintOf, shown } from './terminal.ts';

/** Every command here only looks at runs. */
const GROUP = 'Look at runs:';

/** How much is read at a time. */
const PAGE = 500;

export const addListCommand: AddCommand = (program, { terminal, end }) => {
  program
    .command('ls')
    .helpGroup(GROUP)
    .summary('list the runs of the data directory, newest first')
    .option('--status <status...>', 'only those in these statuses')
    .option('--tag <tag>', 'only those with this tag')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one run a line as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox ls --status running waiting')
    .action(async (flags: DataFlags & { readonly status?: string[]; readonly tag?: string }) => {
      end(
        await withStore(terminal, flags, async ({ store }) => {
          const status = flags.status as RunRecord['status'][] | undefined;
          let after: RunRecord['id'] | undefined;
          do {
            const page = await store.runs({
              ...(status && { status }),
              ...(flags.tag && { tag: flags.tag }),
              ...(after && { after }),
            });
            for (const run of page.items) terminal.print(flags.json ? JSON.stringify(run) : describeRun(run));
            after = page.next;
          } while (after !== undefined);
          return exitCodes.done;
        }),
      );
    });
};

export const addShowCommand: AddCommand = (program, context) => {
  addLook(program, context, 'show', 'show a run: its status and its tree', async ({ store }, run, json) => {
    const { treeAt } = await import('@signalbox/app/runs');
    const { terminal } = context;
    const tree = run.frames === 0 ? undefined : await treeAt(store, run.id, run.frames);
    if (tree !== undefined && !tree.ok)
      throw new Error(`the tree of run ${run.id} cannot be read: ${tree.error.reason}`);
    if (json) return terminal.print(JSON.stringify({ run, tree: tree?.value ?? null }));
    terminal.print(describeRun(run));
    if (run.error !== undefined) terminal.print(`  ${shown(run.error.message)}`);
    if (tree !== undefined) terminal.print(describeTree(tree.value, paintOf(terminal)).join('\n'));
  });
};

export const addStateCommand: AddCommand = (program, context) => {
  addLook(program, context, 'state', 'print the durable state of a run', async ({ store }, run, json) => {
    const state = run.frames === 0 ? new Map() : await store.at(run.id, 'state', run.frames);
    const values = Object.fromEntries([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
    context.terminal.print(json ? JSON.stringify(values) : JSON.stringify(values, null, 2));
  });
};

export const addEventsCommand: AddCommand = (program, context) => {
  addLook(program, context, 'events', 'print the events of a run, in order', async ({ store }, run, json) => {
    for (let from = 0; from < run.nextSeq; from += PAGE) {
      for (const stored of await store.events(run.id, from, PAGE)) {
        const { seq, ts, type } = stored.event;
        context.terminal.print(json ? JSON.stringify(stored) : `${String(seq).padStart(6)} ${ts} ${type}`);
      }
    }
  });
};

export const addFramesCommand: AddCommand = (program, context) => {
  addLook(
    program,
    context,
    'frames',
    'print the frames of a run: what made each, and what it changed',
    async (owned, run, json) => {
      for (let from = 0; from < run.frames; from += PAGE) {
        for (const frame of await owned.store.frames(run.id, from, PAGE)) {
          const { index, at, trigger, mounted, unmounted, written } = frame;
          const changes = `+${mounted.length} -${unmounted.length} nodes${written.length > 0 ? `, wrote ${written.map(shown).join(' ')}` : ''}`;
          context.terminal.print(
            json ? JSON.stringify(frame) : `${String(index).padStart(6)} ${at} ${trigger.kind.padEnd(8)} ${changes}`,
          );
        }
      }
    },
  );
};

export const addTransitionsCommand: AddCommand = (program, context) => {
  addLook(
    program,
    context,
    'transitions',
    'print every change of the state of a run, and why',
    async (owned, run, json) => {
      let from: Parameters<OwnedStore['store']['transitions']>[1] = {};
      for (;;) {
        const page = await owned.store.transitions(run.id, from);
        for (const change of page.items) {
          const why = [change.trigger, change.handler, change.node]
            .filter(part => part !== undefined)
            .map(shown)
            .join(' ');
          const values = `${JSON.stringify(change.old) ?? '–'} → ${JSON.stringify(change.new) ?? '–'}`;
          context.terminal.print(
            json
              ? JSON.stringify(change)
              : `${String(change.frame).padStart(6)} ${shown(change.key)}: ${shown(values)}  ${why}`,
          );
        }
        if (page.next === undefined) return;
        from = { from: page.next };
      }
    },
  );
};

/** A command that takes a run and prints something of it. */
function addLook(
  program: Command,
  { terminal, end }: CommandContext,
  name: string,
  summary: string,
  look: (owned: OwnedStore, run: RunRecord, json: boolean) => Promise<void>,
): void {
  program
    .command(`${name} <run>`)
    .helpGroup(GROUP)
    .summary(summary)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print it as JSON')
    .addHelpText('after', `\nExample:\n  $ signalbox ${name} 019b8d62     the beginning of an id is enough`)
    .action(async (given: string, flags: DataFlags) => {
      const { findRun } = await import('@signalbox/app/runs');
      end(
        await withStore(terminal, flags, async (owned): Promise<0 | ErrorEnvelope> => {
          const run = await findRun(owned.store, given);
          if (!run.ok) return run.error;
          await look(owned, run.value, flags.json ?? false);
          return exitCodes.done;
        }),
      );
    });
}

function describeRun({ id, status, name, createdAt, frames, tags }: RunRecord): string {
  const words = tags.length === 0 ? '' : `  ${tags.map(shown).join(' ')}`;
  return `${id}  ${status.padEnd(9)}  ${shown(name)}  ${createdAt}  ${frames} frames${words}`;
}
