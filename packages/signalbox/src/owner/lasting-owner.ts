import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorEnvelope, isInterrupted, type Result, type RunId, withInterrupted } from '@signalbox/app/host';
import { liveOwner } from './live-owner.ts';
import { type OwnerOptions, openOwner } from './open-owner.ts';
import type { RunOwner } from './run-owner.ts';

/** How long an owner that takes no more commands may take to end. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 50;

/**
 * An owner of the data directory for as long as a command needs one, even if the process that owns it ends meanwhile.
 *
 * 1. A command that the owner did not take, because it was ending or gone, is given to the next one, which may be this process.
 * 2. A command that may have been carried out is not repeated, unless it can be carried out only once: starts have a key.
 * 3. A run whose owner is killed while it is followed is resumed by the next one. A run that its owner paused stays paused.
 *
 * `onOwned` is called if this process becomes the owner.
 */
export async function openLastingOwner(
  options: OwnerOptions,
  onOwned: (owner: RunOwner) => void,
): Promise<Result<RunOwner, ErrorEnvelope>> {
  const opened = await openOwner(options);
  if (!opened.ok) return opened;
  const first = opened.value;
  if (first.isLocal) {
    onOwned(first);
    return opened;
  }
  const { dataDirectory } = options;
  const reader = withInterrupted(first.reader, () => liveOwner(dataDirectory));
  const watches = new Set<{ renew(): void }>();
  let current = first;
  let replacing: Promise<ErrorEnvelope | undefined> | undefined;
  let isListening = false;
  let isClosed = false;

  /** Undefined once there is another owner to ask, which may be ending as well. */
  async function replace(): Promise<ErrorEnvelope | undefined> {
    await sleep(LOOK_MS);
    const next = await openOwner(options);
    if (!next.ok) return next.error.code === 'store/owned' ? undefined : next.error;
    if (current !== first) await current.close();
    current = next.value;
    if (current.isLocal) {
      onOwned(current);
      if (isListening) await current.listen();
    }
    for (const { renew } of watches) renew();
    return undefined;
  }

  async function ask<T>(
    command: (owner: RunOwner) => Promise<Result<T, ErrorEnvelope>>,
  ): Promise<Result<T, ErrorEnvelope>> {
    for (const start = performance.now(); ; ) {
      const asked = current;
      const answer = await command(asked);
      if (answer.ok || asked.isLocal || !wasNotTaken(answer.error)) return answer;
      if (isClosed || performance.now() - start > PATIENCE_MS) return answer;
      replacing ??= replace().finally(() => {
        replacing = undefined;
      });
      const fault = await replacing;
      if (fault !== undefined) return { ok: false, error: fault };
    }
  }

  return {
    ok: true,
    value: {
      get isLocal() {
        return current.isLocal;
      },
      recovered: [],
      reader: first.reader,
      start(request) {
        const { idempotencyKey = randomUUID() } = request;
        return ask(owner => owner.start({ ...request, idempotencyKey }));
      },
      resume: (run, request) => ask(owner => owner.resume(run, request)),
      act: (run, action) => ask(owner => owner.act(run, action)),
      fork: (run, request) => ask(owner => owner.fork(run, request)),
      checkpoints: run => ask(owner => owner.checkpoints(run)),
      undo: (run, call, request) => ask(owner => owner.undo(run, call, request)),
      rollback: (run, request) => ask(owner => owner.rollback(run, request)),
      answer: (decision, answer) => ask(owner => owner.answer(decision, answer)),
      keep: (run, isKept) => ask(owner => owner.keep(run, isKept)),
      redact: (run, request) => ask(owner => owner.redact(run, request)),
      importRun: request => ask(owner => owner.importRun(request)),
      collect: request => ask(owner => owner.collect(request)),
      watch(run, bell) {
        let stop = current.watch(run, bell);
        const watch = {
          renew() {
            stop();
            stop = current.watch(run, bell);
            bell([]);
          },
        };
        watches.add(watch);
        return () => {
          watches.delete(watch);
          stop();
        };
      },
      interrupt: run => current.interrupt(run),
      async rested(run) {
        for (;;) {
          const outcome = await current.rested(run);
          if (isClosed) return;
          const record = await (current.isLocal ? current.reader : reader).run(run);
          if (record !== undefined && isInterrupted(record)) {
            if (!(await takeUp(run))) return;
          } else if (outcome !== 'lost' || record?.status !== 'running') return;
          // Its owner is about to pause it, or is too busy to answer.
          else await sleep(LOOK_MS);
        }
      },
      othersRested: tell => current.othersRested(tell),
      async listen() {
        isListening = true;
        return current.listen();
      },
      async close() {
        isClosed = true;
        await replacing;
        if (current !== first) await current.close();
        await first.close();
      },
    },
  };

  /** False if the run cannot be resumed. */
  async function takeUp(run: RunId): Promise<boolean> {
    const resumed = await ask(owner => owner.resume(run, {}));
    return resumed.ok || resumed.error.code === 'run/driven' || resumed.error.code === 'run/ended';
  }
}

/** Whether nothing was done, or asking again does nothing twice. */
function wasNotTaken({ code, retry }: ErrorEnvelope): boolean {
  return code === 'store/ending' || (code === 'request/unreachable' && retry.kind !== 'not_retryable');
}
