import { summaryOf } from '@signalbox/app/all-runs';
import type { RunHost } from '@signalbox/app/host';
import type { RunId } from '@signalbox/model';
import type { Serving } from '../http/handlers.ts';

/** Retention and redaction of runs. */
export function retentionHandlers(host: RunHost): Serving<'keep' | 'unkeep' | 'redact' | 'collect'> {
  async function keep(run: RunId, isKept: boolean, user: string) {
    const kept = await host.retention.keep(run, isKept, user);
    return kept.ok ? summaryOf(host, run, kept.value) : kept;
  }
  return {
    keep: ({ run }, _, { user }) => keep(run.id, true, user),
    unkeep: ({ run }, _, { user }) => keep(run.id, false, user),
    redact: ({ run }, body, { user }) => host.redactions.redact(run.id, body, user),
    collect: (_, { dryRun = false, compact }, { user }) => host.retention.collect({ dryRun, compact, by: user }),
  };
}
