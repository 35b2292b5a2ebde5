import type { Home, Machine } from '@signalbox/app/host';
import { BY, type RunOwner } from './run-owner.ts';

/** This process owns the data directory. */
export function localOwner(home: Home, dataDirectory: string, machine: Machine): RunOwner {
  const { host, close } = home;
  let server: { close(): Promise<void>; readonly url: string } | undefined;
  return {
    isLocal: true,
    recovered: home.recovered,
    storage: host.storage,
    reader: host.reader,
    start: request => host.start({ ...request, anyFile: true, by: BY }),
    resume: (run, request) => host.resume(run, { ...request, anyFile: true, by: BY }),
    act: (run, action) => host.act(run, action, BY),
    fork: (run, request) => host.fork(run, { ...request, anyFile: true }, BY),
    checkpoints: run => host.checkpoints(run),
    undo: (run, call, request) => host.undo(run, call, request, BY),
    rollback: (run, request) => host.rollback(run, request, BY),
    async answer(decision, answer) {
      const answered = await host.answer(decision, answer, BY);
      return answered.ok ? { ok: true, value: undefined } : answered;
    },
    async keep(run, isKept) {
      const kept = await host.retention.keep(run, isKept, BY);
      return kept.ok ? { ok: true, value: undefined } : kept;
    },
    redact: (run, request) => host.redactions.redact(run, request, BY),
    importRun: request => host.bundles.import({ ...request, anyFile: true }, BY),
    collect: request => host.retention.collect({ ...request, by: BY }),
    watch: (run, bell) => host.feed.subscribe(run, ({ stream, events }) => bell(stream, events)),
    // Runs started by other processes were not paused on purpose: a server resumes them.
    interrupt: run => host.rest(driven => (driven === run ? BY : 'signalbox')),
    async rested(run) {
      await host.finished(run);
    },
    othersRested: tell => host.endOnceIdle(tell),
    async listen() {
      const { startOwnServer } = await import('../serving/own-server.ts');
      const started = await startOwnServer({ home, directory: dataDirectory, machine, port: 0 });
      if (!started.ok) return started;
      server = started.value;
      return { ok: true, value: server.url };
    },
    async close() {
      await server?.close();
      await close();
    },
  };
}
