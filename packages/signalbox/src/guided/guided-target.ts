import path from 'node:path';
import { type ErrorEnvelope, namesId, usageError } from '@signalbox/app';
import { sessionIn } from '@signalbox/app/all-runs';
import type { SessionId } from '@signalbox/app/guided';
import { everyRun, openReader } from '@signalbox/app/host';
import { askedDataDirectory } from '../data-directory-option.ts';

/** What a part of an id names: a guided session, or something to look up among the runs. */
export type Target =
  | { readonly kind: 'session'; readonly sessionId: SessionId }
  | { readonly kind: 'run' }
  | { readonly kind: 'refused'; readonly error: ErrorEnvelope };

/** A full id is one or the other; one that fits both is refused. */
export async function targetOf(dataDir: string | undefined, given: string): Promise<Target> {
  const dataDirectory = askedDataDirectory(dataDir);
  const session = await sessionIn(dataDirectory, given);
  if (session === undefined || (!session.ok && !isAmbiguous(session.error))) return { kind: 'run' };
  const isWhole = session.ok && session.value === given;
  const runs = isWhole ? 0 : await runsThatBegin(dataDirectory, given);
  if (runs > 0) {
    return {
      kind: 'refused',
      error: usageError(`${given} could be a run or a guided session.`, 'Give more of the id.'),
    };
  }
  return session.ok ? { kind: 'session', sessionId: session.value } : { kind: 'refused', error: session.error };
}

/** Whether several sessions begin or end so. */
export function isAmbiguous({ code, details }: ErrorEnvelope): boolean {
  const { matches = 0 } = (details ?? {}) as { readonly matches?: number };
  return code === 'session/unknown' && matches > 1;
}

async function runsThatBegin(dataDirectory: string, given: string): Promise<number> {
  const opened = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!opened.ok) return 0;
  const reader = opened.value;
  try {
    let count = 0;
    for await (const run of everyRun(reader)) if (namesId(run.id, given)) count += 1;
    return count;
  } finally {
    reader.close();
  }
}
