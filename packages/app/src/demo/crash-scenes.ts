import { type Program, startChild } from '../child/child-process.ts';
import type { Scene } from './scene.ts';
import type { Stage } from './stage.ts';
import { TORN_APPEND } from './torn-append.ts';

export const writeScene: Scene<Stage> = {
  title: 'A run writes its journal',
  async play(log, stage) {
    const { brief, failingTest, approval } = stage.story;
    const beats = [brief, failingTest, approval];
    for (const beat of beats) {
      const appended = await stage.append(beat);
      if (!log.claim(`${beat.events.length} events are on disk: ${beat.summary}`, appended.ok)) return;
    }
    const report = stage.verify();
    if (!report.ok) return void log.claim(report.error.message, false);
    log.verdict(report.value);
    const { ok, events, segments, pins } = report.value;
    const isAll =
      segments === beats.length &&
      events === beats.flatMap(beat => beat.events).length &&
      pins === beats.flatMap(beat => beat.snapshots).length;
    log.claim('every event and every snapshot is accounted for', ok && isAll);
  },
};

export const crashScene = (home: string, program: Program): Scene<Stage> => ({
  title: 'A process is killed in the middle of an append',
  async play(log, stage) {
    const before = stage.verify();
    const manifest = stage.read('manifest.jsonl');
    const segments = stage.list('events');

    const end = await startChild(program, TORN_APPEND, home).ended;
    const wasKilled = end.kind === 'killed' && end.signal === 'SIGKILL';
    if (!log.claim('a second process wrote half of a manifest record, then SIGKILL', wasKilled)) return;

    const torn = stage.read('manifest.jsonl').subarray(manifest.length).toString();
    log.tell(`manifest.jsonl ends in ${torn.slice(0, 44)}… (${torn.length} bytes, no end of line)`);
    const orphan = stage.list('events').find(name => !segments.includes(name));
    log.tell(`events/${orphan} is complete, but no record names it`);
    const after = stage.verify();
    if (!after.ok || !before.ok) return void log.claim('the journal can be verified', false);
    log.verdict(after.value);
    const isDebris = torn.length > 0 && !torn.includes('\n') && orphan !== undefined;
    log.claim('the unacknowledged files are reported and ignored', isDebris && after.value.notes.length === 2);
    const isOldTruth = after.value.ok && after.value.head === before.value.head;
    log.claim('the journal is exactly as before', isOldTruth);
  },
});

export const recoverScene: Scene<Stage> = {
  title: 'The append is retried',
  async play(log, stage) {
    const begun = performance.now();
    const appended = await stage.append(stage.story.repair);
    const took = Math.ceil(performance.now() - begun);
    if (
      !log.claim('it succeeds at once: the lock was released when its holder died', appended.ok && appended.value.isNew)
    )
      return;
    log.tell(`it took ${took} ms, and removed what the dead process left behind`);
    const report = stage.verify();
    if (!report.ok) return void log.claim(report.error.message, false);
    log.verdict(report.value);
    const { ok, events, notes } = report.value;
    const isAll = events - 1 === stage.story.repair.events.at(-1)?.seq;
    log.claim('every event is recorded once, and nothing is left behind', ok && isAll && notes.length === 0);

    const size = stage.read('manifest.jsonl').length;
    const again = await stage.append(stage.story.repair);
    const isSame = again.ok && !again.value.isNew && stage.read('manifest.jsonl').length === size;
    log.claim('a third try is recognised and writes nothing', isSame);
  },
};
