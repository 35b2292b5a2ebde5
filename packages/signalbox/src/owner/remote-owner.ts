import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallCheckpoint,
  type ErrorEnvelope,
  type ForkRequest,
  openReader,
  type Result,
  type RunAction,
  type RunId,
} from '@signalbox/app/host';
import { type Client, createClient } from '@signalbox/client';
import type { RunOwner, Said } from './run-owner.ts';

/** Polling interval for a run without events. */
const LOOK_MS = 250;

/** `rested` also ends when the owner does not answer: `lost`. */
export interface RemoteOwner extends RunOwner {
  rested(run: RunId): Promise<'rested' | 'lost'>;
}

/** Another process owns the data directory and performs the actions. Committed data is read from the same files. */
export function remoteOwner(
  dataDirectory: string,
  address: { readonly url: string; readonly token: string },
): Result<RemoteOwner, ErrorEnvelope> {
  const opened = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!opened.ok) return opened;
  const reader = opened.value;
  const client = createClient(address);
  const watches = new Set<() => void>();
  let isClosed = false;

  const watch = (run: RunId, bell: (said: readonly Said[]) => void) => {
    const watching = client.watch(run, news => {
      if (news.kind === 'stream') bell(news.chunks.map(({ kind, payload }) => ({ task: news.task, kind, payload })));
      else if (news.kind === 'event' || news.kind === 'state') bell([]);
    });
    const stop = () => {
      watches.delete(stop);
      watching.close();
    };
    watches.add(stop);
    return stop;
  };

  const owner: RemoteOwner = {
    isLocal: false,
    recovered: [],
    reader,
    async start({ idempotencyKey, file, input, name, tags, correlationId, limits, directory, anyDirectory = false }) {
      const body = {
        file: path.resolve(file),
        anyFile: true,
        input,
        ...(name !== undefined && { name }),
        ...(tags !== undefined && { tags }),
        ...(correlationId !== undefined && { correlationId }),
        ...(limits !== undefined && { limits }),
        ...(directory !== undefined && { directory: path.resolve(directory) }),
        ...(anyDirectory && { anyDirectory }),
      };
      const started = await client.start(body, idempotencyKey === undefined ? {} : { idempotencyKey });
      return started.ok ? { ok: true, value: started.value.record.id } : started;
    },
    async resume(run, { useCurrent = false, trust = false, limits = {} }) {
      const given = Object.keys(limits).length === 0 ? {} : { limits };
      const resumed = await client.resume(run, {
        useCurrent,
        anyFile: true,
        ...(trust && { trust }),
        ...given,
      });
      return resumed.ok ? { ok: true, value: resumed.value.record.id } : resumed;
    },
    async act(run, action) {
      const acted = await ask(client, run, action);
      return acted.ok ? { ok: true, value: undefined } : acted;
    },
    async fork(run, request) {
      const forked = await askFork(client, run, request);
      return forked.ok ? { ok: true, value: forked.value.record.id } : forked;
    },
    async checkpoints(run) {
      const unset = { node: undefined, directory: undefined };
      const all: CallCheckpoint[] = [];
      for (let page = {}; ; ) {
        const found = await client.checkpoints(run, page);
        if (!found.ok) return found;
        all.push(...found.value.checkpoints.map(one => ({ ...unset, ...one })));
        if (found.value.next === undefined) return { ok: true, value: all };
        page = { after: found.value.next };
      }
    },
    undo: (run, call, { dryRun, kept, attempt, copies, diff }) =>
      client.undo(run, {
        call,
        ...(dryRun !== undefined && { dryRun }),
        ...(kept !== undefined && { kept }),
        ...(attempt !== undefined && { attempt }),
        ...(copies !== undefined && { copies }),
        ...(diff !== undefined && { diff }),
      }),
    rollback: (run, { call, after, dryRun, acceptEffects, paused }) =>
      client.rollback(run, {
        call,
        ...(after !== undefined && { after }),
        ...(dryRun !== undefined && { dryRun }),
        ...(acceptEffects !== undefined && { acceptEffects }),
        ...(paused !== undefined && { paused }),
      }),
    async answer(decision, { resolution, proposalHash }) {
      const answered = await client.resolve(decision, {
        resolution,
        ...(proposalHash === undefined ? {} : { proposalHash }),
      });
      return answered.ok ? { ok: true, value: undefined } : answered;
    },
    async keep(run, isKept) {
      const kept = await (isKept ? client.keep(run) : client.unkeep(run));
      return kept.ok ? { ok: true, value: undefined } : kept;
    },
    redact: (run, { value, name, why, dryRun }) =>
      client.redact(run, {
        value,
        ...(name !== undefined && { name }),
        ...(why !== undefined && { why }),
        ...(dryRun !== undefined && { dryRun }),
      }),
    importRun: ({ file, directory, trust = false, anyDirectory = false }) =>
      client.importBundle({
        file: path.resolve(file),
        anyFile: true,
        ...(anyDirectory && { anyDirectory }),
        ...(trust && { trust }),
        ...(directory !== undefined && { directory: path.resolve(directory) }),
      }),
    collect: ({ dryRun, compact = false }) => client.collect({ dryRun, compact }),
    watch,
    async interrupt(run) {
      await client.pause(run);
    },
    async rested(run) {
      let ring = () => {};
      const stop = watch(run, () => ring());
      for (;;) {
        const heard = new Promise<void>(resolve => {
          ring = resolve;
        });
        const now = await client.run(run);
        if (isClosed || !now.ok || !now.value.driven) {
          stop();
          return isClosed || now.ok ? 'rested' : 'lost';
        }
        await Promise.race([heard, sleep(LOOK_MS)]);
      }
    },
    othersRested: async () => {},
    listen: async () => ({ ok: true, value: undefined }),
    async close() {
      isClosed = true;
      for (const stop of [...watches]) stop();
      reader.close();
    },
  };
  return { ok: true, value: owner };
}

function ask(client: Client, run: RunId, action: RunAction) {
  switch (action.kind) {
    case 'pause':
      return client.pause(run);
    case 'stop':
      return client.stop(run, action.reason);
    case 'terminate':
      return client.terminate(run, action.reason);
    case 'retry':
      return client.retry(run, action.node, action.policy === undefined ? {} : { policy: action.policy });
    case 'reset':
      return client.reset(run, action.node);
    case 'edit': {
      const { key, op, value, reason } = action;
      return client.edit(run, { key, op, reason, ...(value !== undefined && { value }) });
    }
    case 'cancel':
      return client.cancel(run, action.node);
    case 'signal':
      return client.signal(run, action.name, action.payload);
  }
}

function askFork(client: Client, run: RunId, { at, directory, ...request }: ForkRequest) {
  const named = directory !== undefined && { directory: path.resolve(directory) };
  const options = { ...request, anyFile: true, ...named };
  switch (at.kind) {
    case 'frame':
      return client.fork(run, { frame: at.frame, ...options });
    case 'call':
      return client.fork(run, { call: at.call, after: at.after, ...options });
    case 'node':
      return client.rerun(run, at.node, options);
  }
}
