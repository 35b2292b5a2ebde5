import { usageError } from '@signalbox/app';
import { findPlanRun, LAST } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, type RunAction, type RunReader, type RunRecord, retryPolicy } from '@signalbox/app/host';
import type { Command } from 'commander';
import type { CommandContext, DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';
import { parseJson } from './json-argument.ts';
import { withOwner } from './owner/with-owner.ts';
import { reportError, shown } from './terminal.ts';

/** Commands that perform one action on a run and report the outcome. */

export const definePause: DefineCommand = (command, context) => {
  command.description(
    'Pauses a run: nothing new starts, and running work may finish. Continue with "signalbox resume".',
  );
  acting(command, context, 'signalbox pause 019b8d62', () => ({ kind: 'pause' }));
};

export const defineStop: DefineCommand = (command, context) => {
  command
    .description('Cancels running work, waits for it to end, and stops the run. Continue with "signalbox resume".')
    .option('--reason <text>', 'why, for later readers');
  acting(command, context, 'signalbox stop 019b8d62 --reason "wrong branch"', (_, { reason }) => ({
    kind: 'stop',
    reason: reason ?? 'stopped from the command line',
  }));
};

export const defineTerminate: DefineCommand = (command, context) => {
  command
    .description('Ends the run immediately, without waiting for running work.')
    .option('--reason <text>', 'why, for later readers');
  acting(command, context, 'signalbox terminate 019b8d62', (_, { reason }) => ({
    kind: 'terminate',
    reason: reason ?? 'terminated from the command line',
  }));
};

export const defineRetry: DefineCommand = (command, context) => {
  command.description(
    'Runs a failed, canceled or succeeded node again, and resumes the run if nothing drives it. Exits with 1 if it fails again.',
  );
  command.option('--policy <json>', 'new retry rules: {"retries": 5, "backoffMs": 1000, "timeoutMs": 60000}');
  const example = `signalbox retry 019b8d62 build --policy '{"retries": 5}'`;
  const actionOf: ActionOf = ([node = ''], { policy }) => {
    const parsed = policy === undefined ? undefined : parseJson(policy);
    if (parsed === undefined) return { kind: 'retry', node };
    const rules = parsed.ok ? retryPolicy.safeParse(parsed.value) : undefined;
    return rules?.success === true ? { kind: 'retry', node, policy: rules.data } : undefined;
  };
  acting(command, context, example, actionOf, true);
};

export const defineReset: DefineCommand = (command, context) => {
  command.description('Restarts the count of rounds toward the maximum of an active loop, from its current round.');
  acting(command, context, 'signalbox reset 019b8d62 refine', ([node = '']) => ({ kind: 'reset', node }));
};

export const defineCancel: DefineCommand = (command, context) => {
  command.description("Cancels a node's work, and whatever it waits for.");
  acting(command, context, 'signalbox cancel 019b8d62 build', ([node = '']) => ({ kind: 'cancel', node }));
};

export const defineSignal: DefineCommand = (command, context) => {
  command.description(
    'Tells a run that something happened outside. The plan handles it in its `signals`; a run that nothing drives receives ' +
      'it when it resumes. A signal that the plan does not declare, or a payload that does not fit, is refused.',
  );
  acting(command, context, `signalbox signal 019b8d62 deployed '{"version": 3}'`, ([name = '', payload]) => {
    const parsed = payload === undefined ? { ok: true as const, value: null } : parseJson(payload);
    return parsed.ok ? { kind: 'signal', name, payload: parsed.value } : undefined;
  });
};

interface ActFlags extends DataFlags {
  readonly reason?: string;
  readonly policy?: string;
}

/** Returns undefined if an argument is not valid JSON. */
type ActionOf = (args: readonly (string | undefined)[], flags: ActFlags) => RunAction | undefined;

function acting(
  command: Command,
  { terminal, end }: CommandContext,
  example: string,
  actionOf: ActionOf,
  drives = false,
): void {
  command
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', `\nExample:\n  $ ${example}`)
    .action(async (given: string | undefined, ...rest: readonly unknown[]) => {
      const flags = rest.at(-2) as ActFlags;
      const action = actionOf(rest.slice(0, -2) as (string | undefined)[], flags);
      if (action === undefined) {
        const [what, suggestion] =
          flags.policy === undefined
            ? ['The payload is not JSON.', `Quote it for your shell: '{"key": "value"}'.`]
            : ['--policy is not valid.', `Example: --policy '{"retries": 5, "backoffMs": 1000, "timeoutMs": 60000}'`];
        reportError(terminal, usageError(what, suggestion), flags.json ?? false);
        return end(exitCodes.usage);
      }
      end(
        await withOwner(terminal, flags, async (owner): Promise<ExitCode | ErrorEnvelope> => {
          const run = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given ?? LAST);
          if (!run.ok) return run.error;
          const acted = await owner.act(run.value.id, action);
          if (!acted.ok) return acted.error;
          if (drives) await owner.rested(run.value.id);
          const after = (await owner.reader.run(run.value.id)) ?? run.value;
          const { id, status, name } = after;
          const failed = drives && 'node' in action ? await failureOf(owner.reader, after, action.node) : undefined;
          terminal.print(
            flags.json
              ? JSON.stringify({ run: id, status, ...(failed && { node: failed }) })
              : `${id}  ${status.padEnd(9)}  ${shown(name)}`,
          );
          if (failed === undefined) return exitCodes.done;
          if (flags.json !== true) terminal.complain(`${shown(failed.id)} failed again: ${shown(failed.message)}`);
          return exitCodes.failed;
        }),
      );
    });
}

/** Why a node that was repeated failed once more; undefined if it did not. */
async function failureOf(
  reader: RunReader,
  { id, frames }: RunRecord,
  node: string,
): Promise<{ readonly id: string; readonly message: string } | undefined> {
  const row = (await reader.valueAt(id, 'status', node, frames)) as { readonly status?: string } | undefined;
  if (row?.status !== 'failed') return undefined;
  const tasks = (await reader.tasks(id, {})).filter(task => task.node === node);
  return { id: node, message: tasks.at(-1)?.lastError?.message ?? 'for an unknown reason' };
}
