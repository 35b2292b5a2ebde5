import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parsedJson } from '@signalbox/model';
import * as z from 'zod';
import { type Amounts, writeWhole } from './limit-settings.ts';

const raise = z.strictObject({
  scope: z.enum(['day', 'project-day']),
  day: z.iso.date(),
  directory: z.string().optional(),
  limit: z.enum(['maxTotalTokens', 'maxCostMicroUsd']),
  to: z.int().nonnegative(),
});
type Raise = z.infer<typeof raise>;
const raisedFile = z.strictObject({ v: z.literal(1), raised: z.array(raise) });

/** Limits of days that a person raised: for that day alone, so the next one begins with what is configured. */
export interface RaisedLimits {
  of(of: Pick<Raise, 'scope' | 'day' | 'directory'>): Amounts;
  add(raised: Raise): void;
  version(): string;
}

export function openRaisedLimits(dataDirectory: string): RaisedLimits {
  const file = path.join(dataDirectory, 'raised-limits.json');
  let known: { readonly version: string; readonly raised: readonly Raise[] } | undefined;

  const version = () => {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? 'none' : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
  };
  const read = (): readonly Raise[] => {
    const now = version();
    if (known?.version !== now) {
      // One that is damaged raises nothing: people are asked again.
      const found = now === 'none' ? undefined : raisedFile.safeParse(parsedJson(readFileSync(file, 'utf8')));
      known = { version: now, raised: found?.success === true ? found.data.raised : [] };
    }
    return known.raised;
  };
  return {
    version,
    of({ scope, day, directory }) {
      const found = read().filter(one => one.scope === scope && one.day === day && one.directory === directory);
      return Object.fromEntries(found.map(({ limit, to }) => [limit, to]));
    },
    add(raised) {
      const isSame = (one: Raise) =>
        one.scope === raised.scope && one.directory === raised.directory && one.limit === raised.limit;
      const others = read().filter(one => one.day === raised.day && !isSame(one));
      writeWhole(file, { v: 1, raised: [...others, raised] });
    },
  };
}
