import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type Clock, type RunId, type Timestamp, timestamp } from '@signalbox/model';
import { type Budgeted, type Ceiling, NO_USAGE, type RunReader, type RunSpent, type UsageTotal } from '@signalbox/runs';
import { projectDirectoryOf } from '../host/project-directory.ts';
import type { Amounts, LimitSettingsFile } from './limit-settings.ts';
import type { RaisedLimits } from './raised-limits.ts';

/**
 * Limits over more than one run: of a day, of a project, and of a project on a day.
 *
 * 1. What was spent is the sum of committed usage, read before each call: it holds over restarts, and over whatever started a run.
 * 2. A day is one in UTC, as in usage. A call counts on the day on which it ends.
 * 3. Limits that cannot be read let nothing through.
 */
export interface Ceilings {
  /** Those that stand over a run that no other one stands above. */
  over(root: RunId): Promise<readonly Budgeted[]>;
  /** Every one that is configured, and what was spent below it. */
  all(): Promise<readonly CeilingStanding[]>;
  today(): string;
}

export interface CeilingStanding {
  readonly ceiling: Ceiling;
  readonly configured: Amounts;
  /** With what was raised for the day. */
  readonly limits: Amounts;
  readonly spent: Spent;
}

type Spent = Omit<RunSpent, 'run'>;

export interface CeilingPorts {
  readonly reader: Pick<RunReader, 'run' | 'spentByRun'>;
  readonly clock: Clock;
  readonly settings: LimitSettingsFile;
  readonly raised: RaisedLimits;
}

const DAY_MS = 86_400_000;
const EVER = timestamp.parse('0001-01-01T00:00:00.000Z');

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const startOf = (day: string): Timestamp => timestamp.parse(`${day}T00:00:00.000Z`);

export function createCeilings({ reader, clock, settings, raised }: CeilingPorts): Ceilings {
  /** A run stays in the project that it was started in. */
  const projects = new Map<RunId, string | undefined>();
  const realPlaces = new Map<string, string>();
  /** Sums of the days before yesterday do not change. */
  let past: { readonly before: Timestamp; readonly spent: readonly RunSpent[] } | undefined;

  const today = () => dayOf(clock.now());

  async function projectOf(run: RunId): Promise<string | undefined> {
    if (projects.has(run)) return projects.get(run);
    const record = await reader.run(run);
    const directory = record && projectDirectoryOf(record);
    const above = record?.origin?.kind === 'sub-plan' ? record.origin.run : undefined;
    const found = above === undefined ? directory && realPlace(directory) : await projectOf(above);
    projects.set(run, found);
    return found;
  }

  function realPlace(directory: string): string {
    const known = realPlaces.get(directory);
    if (known !== undefined) return known;
    let real = directory;
    try {
      real = realpathSync(directory);
    } catch {
      // It is gone: its name is all that is left of it.
    }
    realPlaces.set(directory, real);
    return real;
  }

  const isWithin = (project: string | undefined, directory: string): boolean => {
    const inside = project === undefined ? undefined : path.relative(realPlace(directory), project);
    return inside !== undefined && inside.split(path.sep)[0] !== '..' && !path.isAbsolute(inside);
  };

  /** Both reads are of one moment: nothing is committed between them. */
  async function ever(): Promise<readonly RunSpent[]> {
    const before = startOf(dayOf(clock.now() - DAY_MS));
    if (past?.before !== before) {
      const [all, since] = await Promise.all([reader.spentByRun(EVER), reader.spentByRun(before)]);
      const recent = new Map(since.map(one => [one.run, one]));
      const spent = all.map(one => minus(one, recent.get(one.run)));
      past = { before, spent };
      return all;
    }
    return [...past.spent, ...(await reader.spentByRun(before))];
  }

  async function spentBelow(ceiling: Ceiling, memo: Map<string, Promise<readonly RunSpent[]>>): Promise<Spent> {
    const key = ceiling.scope === 'project' ? '' : ceiling.day;
    const reading = memo.get(key) ?? (key === '' ? ever() : reader.spentByRun(startOf(key)));
    memo.set(key, reading);
    let sum: Spent = { tokens: 0, costMicroUsd: 0 };
    for (const { run, tokens, costMicroUsd } of await reading) {
      if (ceiling.scope !== 'day' && !isWithin(await projectOf(run), ceiling.directory)) continue;
      sum = { tokens: sum.tokens + tokens, costMicroUsd: sum.costMicroUsd + costMicroUsd };
    }
    return sum;
  }

  /** Ceilings with a limit, by what is configured and raised now. */
  function configured(): { readonly fault: string } | readonly Omit<CeilingStanding, 'spent'>[] {
    const read = settings.read();
    if (!read.ok) return { fault: read.error };
    const day = today();
    const one = (ceiling: Ceiling, amounts: Amounts) => ({
      ceiling,
      configured: amounts,
      limits: ceiling.scope === 'project' ? amounts : { ...amounts, ...raisedOver(amounts, raised.of(ceiling)) },
    });
    return [
      one({ scope: 'day', day }, read.value.day),
      ...read.value.projects.flatMap(({ directory, total, day: ofDay }) => [
        one({ scope: 'project', directory }, total),
        one({ scope: 'project-day', directory, day }, ofDay),
      ]),
    ].filter(({ limits }) => Object.keys(limits).length > 0);
  }

  return {
    today,
    async over(root) {
      const found = configured();
      if ('fault' in found) return [{ ...unlimited(root), fault: unusable(found.fault) }];
      const memo = new Map<string, Promise<readonly RunSpent[]>>();
      const over: Budgeted[] = [];
      for (const { ceiling, limits } of found) {
        if (ceiling.scope !== 'day' && !isWithin(await projectOf(root), ceiling.directory)) continue;
        const spent = await spentBelow(ceiling, memo).then(usageOf, () => undefined);
        over.push({ ...unlimited(root), ceiling, limits, spent });
      }
      return over;
    },
    async all() {
      const found = configured();
      if ('fault' in found) return [];
      const memo = new Map<string, Promise<readonly RunSpent[]>>();
      return Promise.all(
        found.map(async standing => ({ ...standing, spent: await spentBelow(standing.ceiling, memo) })),
      );
    },
  };
}

function unusable(why: string): string {
  return `The limits in config.json cannot be used: ${why}. Correct the file, then resume the run.`;
}

const unlimited = (run: RunId) => ({ run, limits: {}, spent: undefined, elapsedMs: undefined, stopRequested: false });

/** Only limits that are still configured, and lower. */
function raisedOver(configured: Amounts, raised: Amounts): Amounts {
  return Object.fromEntries(
    (['maxTotalTokens', 'maxCostMicroUsd'] as const).flatMap(name => {
      const [limit, to] = [configured[name], raised[name]];
      return limit === undefined || to === undefined ? [] : [[name, Math.max(limit, to)]];
    }),
  );
}

function minus(all: RunSpent, part: RunSpent | undefined): RunSpent {
  const { tokens = 0, costMicroUsd = 0 } = part ?? {};
  return { ...all, tokens: all.tokens - tokens, costMicroUsd: all.costMicroUsd - costMicroUsd };
}

function usageOf({ tokens, costMicroUsd }: Spent): UsageTotal {
  return { ...NO_USAGE, inputTokens: tokens, costMicroUsd };
}
