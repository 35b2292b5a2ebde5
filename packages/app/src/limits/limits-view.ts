import type { LimitsView, RunId } from '@signalbox/model';
import type { CallEstimate, Ceiling, RunReader } from '@signalbox/runs';
import { ceilingOf } from '../decisions/limit-decisions.ts';
import type { Limits } from './open-limits.ts';

/** The limits of a data directory, what was spent below them, and which runs wait for them. */
export async function viewOfLimits(
  { ceilings, settings }: Limits,
  reader: Pick<RunReader, 'decisions'>,
  reservedIn: (ceiling: Ceiling) => CallEstimate = () => ({ tokens: 0 }),
): Promise<LimitsView> {
  const known = settings.read();
  const waiting = await openQuestions(reader);
  const runsAt = (ceiling: Ceiling): readonly RunId[] => [
    ...new Set(waiting.flatMap(({ run, about }) => (isSameCeiling(about.ceiling, ceiling) ? [run] : []))),
  ];
  return {
    today: ceilings.today(),
    run: known.ok ? known.value.run : {},
    ...(!known.ok && { problem: known.error }),
    ceilings: (await ceilings.all()).map(({ ceiling, configured, limits, spent }) => {
      const { tokens, costMicroUsd = 0 } = reservedIn(ceiling);
      const reserved = { tokens, costMicroUsd };
      return { ...ceiling, configured, limits, spent, reserved, waiting: runsAt(ceiling) };
    }),
  };
}

/** The questions about ceilings that wait for an answer. */
export async function openQuestions(reader: Pick<RunReader, 'decisions'>) {
  const open = await reader.decisions({ status: ['open'] });
  return open.flatMap(({ run, decision }) => {
    const about = ceilingOf(decision);
    return about === undefined ? [] : [{ run, decision, about }];
  });
}

export function isSameCeiling(a: Ceiling, b: Ceiling): boolean {
  return placeOf(a) === placeOf(b);
}

const placeOf = (ceiling: Ceiling): string =>
  JSON.stringify([ceiling.scope, 'day' in ceiling ? ceiling.day : '', 'directory' in ceiling ? ceiling.directory : '']);
