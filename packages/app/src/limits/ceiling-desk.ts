import { type ErrorEnvelope, err, failure, type LimitsView, ok, type Result, type RunId } from '@signalbox/model';
import { ROOT_ID } from '@signalbox/plan';
import { budgetKey, type NodeKey, type RunReader } from '@signalbox/runs';
import type { DecisionDesk } from '../decisions/decision-desk.ts';
import type { CeilingContext } from '../decisions/limit-decisions.ts';
import type { Raise } from '../host/raise-limits.ts';
import type { RunHost } from '../host/run-host.ts';
import type { Machine } from '../machine.ts';
import type { Reservations } from '../meter/reservations.ts';
import type { CeilingStanding } from './ceilings.ts';
import type { AmountChange, LimitScope } from './limit-settings.ts';
import { isSameCeiling, openQuestions, viewOfLimits } from './limits-view.ts';
import type { Limits } from './open-limits.ts';

/** Limits over more than one run, and the runs that wait for them. */
export interface CeilingDesk {
  read(): Promise<LimitsView>;
  /** Changes the configuration. Runs that wait for it go on if they can. */
  change(scope: LimitScope, amounts: AmountChange): Promise<Result<LimitsView, ErrorEnvelope>>;
  /** As a person answered: of a day for that day alone. */
  raise(about: CeilingContext, to: number): Promise<Result<void, ErrorEnvelope>>;
  /** Begins to look whether limits were changed in their file, or the day has turned. */
  open(): void;
  close(): void;
}

export interface CeilingDeskPorts {
  readonly limits: Limits;
  readonly reader: Pick<RunReader, 'decisions'>;
  readonly machine: Pick<Machine, 'timers'>;
  readonly decisions: Pick<DecisionDesk, 'withdraw'>;
  readonly reservations: Pick<Reservations, 'held' | 'wake'>;
  readonly raiseRun: Raise;
  /** Undefined where nobody drives runs that were left waiting: their questions stay for a process that does. */
  readonly resume: RunHost['resume'] | undefined;
  readonly finished: RunHost['finished'];
}

const LOOK_MS = 1000;
const BY = 'signalbox';

export function createCeilingDesk(ports: CeilingDeskPorts): CeilingDesk {
  const { reader, machine, decisions, reservations, raiseRun, resume, finished } = ports;
  const { ceilings, settings, raised } = ports.limits;
  let cancel = () => {};
  let seen = '';
  let reviewing = Promise.resolve();

  const state = () => `${ceilings.today()} ${settings.version()} ${raised.version()}`;

  /** Runs wait at a ceiling until what they asked for fits below it. */
  const review = (): Promise<void> => {
    seen = state();
    reviewing = reviewing.then(reviewAll, reviewAll);
    return reviewing;
  };

  async function reviewAll(): Promise<void> {
    reservations.wake();
    const asked = await openQuestions(reader);
    const waiting = asked.filter(({ run }) => resume !== undefined || finished(run) !== undefined);
    if (waiting.length === 0) return;
    const all = await ceilings.all();
    const free = new Set<RunId>();
    for (const { run, decision, about } of waiting) {
      if (isReached(about, all)) continue;
      free.add(run);
      await decisions.withdraw(run, ROOT_ID as NodeKey, ({ id }) => id === decision.id);
    }
    for (const run of free) await goOn(run);
  }

  async function goOn(run: RunId): Promise<void> {
    const told = await raiseRun(run, {}, BY);
    if (told.ok && told.value === 'rests') await resume?.(run);
  }

  const read = (): Promise<LimitsView> =>
    viewOfLimits(ports.limits, reader, ceiling => reservations.held(budgetKey({ run: '' as RunId, ceiling })));

  return {
    read,
    async change(scope, amounts) {
      const written = settings.change(scope, amounts);
      if (!written.ok) return err(notWritten(written.error));
      await review();
      return ok(await read());
    },
    async raise({ limit, ceiling }, to) {
      if (ceiling.scope === 'project') {
        const written = settings.change(ceiling, { [limit]: to });
        if (!written.ok) return err(notWritten(written.error));
      } else raised.add({ ...ceiling, limit, to });
      await review();
      return ok(undefined);
    },
    open() {
      const look = () => {
        if (state() !== seen) void review().catch(() => undefined);
        cancel = machine.timers.after(LOOK_MS, look);
      };
      look();
    },
    close: () => cancel(),
  };
}

function isReached({ limit, wanted = 1, ceiling }: CeilingContext, all: readonly CeilingStanding[]): boolean {
  const now = all.find(one => isSameCeiling(one.ceiling, ceiling));
  const allowed = now?.limits[limit];
  if (now === undefined || allowed === undefined) return false;
  return (limit === 'maxTotalTokens' ? now.spent.tokens : now.spent.costMicroUsd) + wanted > allowed;
}

function notWritten(why: string): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: `The limits were not changed: config.json of the data directory cannot be used: ${why}.`,
    suggestion: 'Correct the file, then try again.',
  });
}
