import { type AllRuns, summaryOf } from '@signalbox/app/all-runs';
import type { RunAction, RunHost } from '@signalbox/app/host';
import { err, ok, type RunId, text } from '@signalbox/model';
import { invalid } from '../http/answer.ts';
import type { Caller, Serving } from '../http/handlers.ts';
import { ownersWordRefusal } from '../http/owner-only.ts';
import { unknownRun } from './known-run.ts';
import { listed } from './paging.ts';

type Acts = 'pause' | 'stop' | 'terminate' | 'signal' | 'cancel' | 'retry' | 'reset' | 'edit';

const idempotencyKey = text.min(1).max(256);
const ASKED = 'an operator asked for it';

/** Starts, lists, shows and moves runs. */
export function runHandlers(
  host: RunHost,
  all: Pick<AllRuns, 'list' | 'show'>,
): Serving<'start' | 'runs' | 'run' | 'resume' | Acts> {
  async function act(run: RunId, action: RunAction, { user }: Caller) {
    const acted = await host.act(run, action, user);
    return acted.ok ? summaryOf(host, run) : acted;
  }

  return {
    async start(_, body, caller) {
      const key = idempotencyKey.nullable().safeParse(caller.request.headers.get('idempotency-key'));
      if (!key.success) return err(invalid('Idempotency-Key takes 1 to 256 characters'));
      const refused = ownersWordRefusal(body, caller);
      if (refused !== undefined) return err(refused);
      const started = await host.start({
        ...body,
        input: body.input ?? {},
        ...(key.data !== null && { idempotencyKey: key.data }),
        by: caller.user,
      });
      return started.ok ? summaryOf(host, started.value) : started;
    },
    runs: async (_, asked) => listed('runs', await all.list(asked)),
    async run({ run: { id } }) {
      const shown = await all.show(id);
      if (!shown.ok) return shown;
      return shown.value === undefined ? err(unknownRun(id)) : ok(shown.value);
    },
    async resume({ run }, body, caller) {
      const refused = ownersWordRefusal(body, caller);
      if (refused !== undefined) return err(refused);
      const resumed = await host.resume(run.id, { ...body, by: caller.user });
      return resumed.ok ? summaryOf(host, resumed.value) : resumed;
    },
    pause: ({ run }, _, caller) => act(run.id, { kind: 'pause' }, caller),
    stop: ({ run }, { reason = ASKED }, caller) => act(run.id, { kind: 'stop', reason }, caller),
    terminate: ({ run }, { reason = ASKED }, caller) => act(run.id, { kind: 'terminate', reason }, caller),
    signal: ({ run }, { name, payload = null }, caller) => act(run.id, { kind: 'signal', name, payload }, caller),
    cancel: ({ run, node }, _, caller) => act(run.id, { kind: 'cancel', node }, caller),
    retry: ({ run, node }, { policy }, caller) => act(run.id, { kind: 'retry', node, policy }, caller),
    reset: ({ run, node }, _, caller) => act(run.id, { kind: 'reset', node }, caller),
    edit: ({ run }, body, caller) => act(run.id, { kind: 'edit', ...body }, caller),
  };
}
