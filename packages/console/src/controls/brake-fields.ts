import type { AgentId, InputOf } from '@signalbox/model';

/** The form of a brake. `scope` is `all`, `workstream NAME` or `agent ID`. */
export interface BrakeFields {
  readonly scope: string;
  readonly behavior: 'pause' | 'kill';
  readonly release: 'manual' | 'timer';
  readonly minutes: number;
  readonly reason: string;
}

export const noBrakeFields: BrakeFields = {
  scope: 'all',
  behavior: 'pause',
  release: 'manual',
  minutes: 10,
  reason: '',
};

const MINUTE_MS = 60_000;

export function brakeOf({ scope, behavior, release, minutes, reason }: BrakeFields): InputOf<'brake'> {
  return {
    scope: scopeOf(scope),
    behavior,
    reason: reason.trim(),
    ...(release === 'timer' && {
      releaseCondition: { type: 'timer', releaseAfterMs: Math.max(1, Math.round(minutes * MINUTE_MS)) },
    }),
  };
}

function scopeOf(given: string): InputOf<'brake'>['scope'] {
  const [type] = given.split(' ', 1);
  const rest = given.slice((type ?? '').length + 1);
  if (type === 'workstream') return { type, workstream: rest };
  return type === 'agent' ? { type, agentId: rest as AgentId } : { type: 'all' };
}
