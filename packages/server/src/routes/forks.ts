import { summaryOf } from '@signalbox/app/all-runs';
import { callsLeftOut, type ForkRequest, lineageOf, type RunHost } from '@signalbox/app/host';
import { defined, err, ok, type RunId } from '@signalbox/model';
import type { Caller, Serving } from '../http/handlers.ts';
import { ownersWordRefusal } from '../http/owner-only.ts';
import { knownRun } from './known-run.ts';
import { listed, MANY, pageOf } from './paging.ts';

/** Forks, reruns, undo and rollback. */
export function forkHandlers(
  host: RunHost,
): Serving<'fork' | 'rerun' | 'compare' | 'lineage' | 'checkpoints' | 'changes' | 'undo' | 'rollback'> {
  async function forkAt(run: RunId, request: ForkRequest, caller: Caller) {
    const refused = ownersWordRefusal(request, caller);
    if (refused !== undefined) return err(refused);
    const forked = await host.fork(run, request, caller.user);
    if (!forked.ok) return forked;
    const summary = await summaryOf(host, forked.value);
    if (!summary.ok) return summary;
    const calls = await host.checkpoints(run);
    if (!calls.ok) return calls;
    const leftOut = await callsLeftOut(host.reader, forked.value, request.at, calls.value);
    return ok({ ...summary.value, leftOut });
  }

  return {
    fork({ run }, body, caller) {
      if ('frame' in body) {
        const { frame, ...rest } = body;
        return forkAt(run.id, { at: { kind: 'frame', frame }, ...rest }, caller);
      }
      const { call, after, ...rest } = body;
      return forkAt(run.id, { at: { kind: 'call', call, after }, ...rest }, caller);
    },
    rerun: ({ run, node }, body, caller) => forkAt(run.id, { at: { kind: 'node', node }, ...body }, caller),
    async compare({ run, other }) {
      const found = await knownRun(host.reader, other);
      return found.ok ? host.compare(run.id, found.value.id) : found;
    },
    async lineage({ run }, asked) {
      const { forks, ...rest } = await lineageOf(host.reader, run);
      const page = listed(
        'forks',
        pageOf(forks, asked, fork => fork.run),
      );
      return page.ok ? ok({ ...rest, ...page.value }) : page;
    },
    async checkpoints({ run }, asked) {
      const found = await host.checkpoints(run.id);
      if (!found.ok) return found;
      const all = found.value.map(({ node, directory, ...facts }) => ({
        ...facts,
        ...defined({ node, directory }),
      }));
      return listed(
        'checkpoints',
        pageOf(all, { limit: MANY, ...asked }, ({ call }) => call),
      );
    },
    changes: ({ run }, asked) => host.changes(run, asked),
    undo: ({ run }, { call, ...request }, { user }) => host.undo(run.id, call, request, user),
    rollback: ({ run }, body, { user }) => host.rollback(run.id, body, user),
  };
}
