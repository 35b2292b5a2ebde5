import { type Clock, type Timestamp, timestamp } from '@signalbox/model';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The end of a lifetime that begins now: `30d`, `12h`, `90m`, `2w`. Undefined for anything else. */
export function expiryAfter(lifetime: string, clock: Clock): Timestamp | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([mhdw])$/.exec(lifetime) ?? [];
  const unitMs = UNITS[unit];
  if (unitMs === undefined) return undefined;
  return timestamp.parse(new Date(clock.now() + Number(count) * unitMs).toISOString());
}
