import type { EditOp, Json } from '@signalbox/model';
import type { RetryPolicy, StopConditions } from '@signalbox/runs';
import type { QueryTable } from '../context.ts';

/** What became of a command. It is answered when what it did is committed. */
export type CommandAnswer =
  | 'done'
  /** There is no such node in the plan. */
  | 'unknown_node'
  /** There was nothing to do: the node or the run stands where the command would have put it, or cannot go there. */
  | 'no_effect'
  /** The run ended, or was let go, before the command could take effect. */
  | 'over'
  /** What was given does not fit the plan, and why. */
  | { readonly refused: string };

/** What an operator, or the process that drives the run, says to it. */
export type OperatorCommand =
  /** With `now`, work that can be done again does not finish: it is given up, and that attempt counts as none. */
  | { readonly kind: 'pause'; readonly by: string; readonly now?: boolean | undefined }
  | { readonly kind: 'stop' | 'terminate'; readonly reason: string; readonly by: string }
  | { readonly kind: 'retry'; readonly node: string; readonly by: string; readonly policy?: RetryPolicy | undefined }
  | { readonly kind: 'cancel' | 'reset'; readonly node: string; readonly by: string }
  | ({ readonly kind: 'edit' } & StateEdit)
  /** Other limits than before; what waits for them goes on. */
  | { readonly kind: 'raise'; readonly limits: StopConditions; readonly by: string }
  | { readonly kind: 'wake' | 'due'; readonly node: string }
  /** A sub-plan goes on with the run that failed; a handler that failed is called again. */
  | { readonly kind: 'revive' | 'recall'; readonly node: string };

/** A change of durable state from outside; without a value the key is taken away. */
export interface StateEdit {
  readonly key: string;
  /** What is made of the value that is there when the edit is made; without it the given one takes its place. */
  readonly op?: EditOp | undefined;
  readonly value?: Json | undefined;
  readonly reason: string;
  readonly by: string;
}

export type Command =
  | OperatorCommand
  | { readonly kind: 'invalidate'; readonly tables: readonly QueryTable[] }
  /** Events from outside may be there. */
  | { readonly kind: 'input' }
  /** The run to itself: it has been quiet. */
  | { readonly kind: 'idle' }
  /** Its grace or its wall clock is over, or it must let go at once. */
  | { readonly kind: 'grace-over' | 'time-over' | 'suspend' }
  /** Files that were read may be others. */
  | { readonly kind: 'files' };

interface Asked {
  readonly command: Command;
  readonly answer: (answer: CommandAnswer) => void;
}

/** Where commands wait for the next step, and their askers for the commit that follows it. */
export interface CommandBox {
  ask(command: Command): Promise<CommandAnswer>;
  take(obey: (command: Command) => CommandAnswer): readonly Command[];
  /** What was obeyed is durable. */
  committed(): void;
  /** Everything that is not answered, now or later, came too late. */
  close(): void;
}

export function createCommandBox(): CommandBox {
  let waiting: Asked[] = [];
  let obeyed: Asked[] = [];
  let isClosed = false;
  return {
    ask: command =>
      new Promise(answer => {
        if (isClosed) answer('over');
        else waiting.push({ command, answer });
      }),
    take(obey) {
      const taken = waiting;
      waiting = [];
      return taken.flatMap(asked => {
        const answer = obey(asked.command);
        if (answer === 'done') obeyed.push(asked);
        else asked.answer(answer);
        return answer === 'done' ? [asked.command] : [];
      });
    },
    committed() {
      for (const { answer } of obeyed) answer('done');
      obeyed = [];
    },
    close() {
      isClosed = true;
      for (const { answer } of [...obeyed, ...waiting]) answer('over');
      obeyed = [];
      waiting = [];
    },
  };
}
