import type { EditOp, Json } from '@signalbox/model';
import type { RetryPolicy, StopConditions } from '@signalbox/runs';
import type { QueryTable } from '../context.ts';

/** The result of a command, returned when its effects are committed. */
export type CommandAnswer =
  | 'done'
  /** The plan has no such node. */
  | 'unknown_node'
  /** Nothing to do: the node or run is already in the requested state, or cannot get there. */
  | 'no_effect'
  /** The run ended, or was released, before the command could take effect. */
  | 'over'
  /** The given value does not fit the plan, and why. */
  | { readonly refused: string };

/** Commands of an operator, or of the process that drives the run. */
export type OperatorCommand =
  /** With `now`, repeatable work does not finish: it is given up, and the attempt does not count. */
  | { readonly kind: 'pause'; readonly by: string; readonly now?: boolean | undefined }
  | { readonly kind: 'stop' | 'terminate'; readonly reason: string; readonly by: string }
  | { readonly kind: 'retry'; readonly node: string; readonly by: string; readonly policy?: RetryPolicy | undefined }
  | { readonly kind: 'cancel' | 'reset'; readonly node: string; readonly by: string }
  | ({ readonly kind: 'edit' } & StateEdit)
  /** New limits; work that waits for them continues. */
  | { readonly kind: 'raise'; readonly limits: StopConditions; readonly by: string }
  | { readonly kind: 'wake' | 'due'; readonly node: string }
  /** A sub-plan continues with its failed run; a failed handler is called again; failed work starts again because its plan was corrected. */
  | { readonly kind: 'revive' | 'recall' | 'repair'; readonly node: string };

/** An outside change of durable state; without a value the key is removed. */
export interface StateEdit {
  readonly key: string;
  /** How to combine with the current value; if absent, the given value replaces it. */
  readonly op?: EditOp | undefined;
  readonly value?: Json | undefined;
  readonly reason: string;
  readonly by: string;
}

export type Command =
  | OperatorCommand
  | { readonly kind: 'invalidate'; readonly tables: readonly QueryTable[] }
  /** There may be outside events. */
  | { readonly kind: 'input' }
  /** From the run itself: it has been quiet. */
  | { readonly kind: 'idle' }
  /** Its grace or wall clock is over, or it must let go at once. */
  | { readonly kind: 'grace-over' | 'time-over' | 'suspend' }
  /** Files that were read may have changed. */
  | { readonly kind: 'files' };

interface Asked {
  readonly command: Command;
  readonly answer: (answer: CommandAnswer) => void;
}

/** Holds commands until the next step, and their callers until the commit that follows. */
export interface CommandBox {
  ask(command: Command): Promise<CommandAnswer>;
  take(obey: (command: Command) => CommandAnswer): readonly Command[];
  /** Executed commands are durable. */
  committed(): void;
  /** Whether callers wait for the next commit. */
  readonly isAwaited: boolean;
  /** Everything unanswered, now or later, came too late. */
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
    get isAwaited() {
      return obeyed.length > 0;
    },
    close() {
      isClosed = true;
      for (const { answer } of [...obeyed, ...waiting]) answer('over');
      obeyed = [];
      waiting = [];
    },
  };
}
