import type { CommitNotice, StoredEvent } from '@signalbox/runs';
import { tellEvents } from '../contract-view/event-page.ts';
import { outlineOf, snapshotOf } from '../contract-view/run-view.ts';
import { unknownRun } from '../host/find-run.ts';
import type { RunHost } from '../host/run-host.ts';
import { commitMessages, streamMessage } from './commit-messages.ts';
import type { Outbox, Subscription, WatchedRun } from './live-runs.ts';
import type { RunPicture, RunPictures } from './run-picture.ts';
import { saidEvents } from './said-events.ts';
import { Shown } from './shown.ts';
import { createStreamBuffer } from './stream-buffer.ts';

/** How many feed events are buffered while a client has room; without room they are read again later. */
const KEPT_EVENTS = 100;
const PAGE = 200;

/**
 * One client watching one run.
 *
 * 1. It subscribes before it reads, so nothing is lost between the state and what follows.
 * 2. `cursor` is the next event to send. Events come from the feed while they are contiguous and from the reader otherwise: each is sent
 *    once, in order, whatever the feed delivers.
 * 3. Agent output is sent in its place: after the event that preceded its commit, and before the next one.
 * 4. A picture older than the last one sent is not sent.
 * 5. A client that has everything before a commit is sent the messages that all such clients share.
 * 6. Nothing is sent while the client has no room; only the newest picture waits.
 */
export function subscribeRun(
  host: RunHost,
  pictures: RunPictures,
  outbox: Outbox,
  { run, from, outline, view }: WatchedRun,
  onFault: (thrown: unknown) => void,
): Subscription {
  const stream = createStreamBuffer({ onlyDeltas: view === 'contract' });
  const saidOf = saidEvents(host.reader, run);
  const shown = new Shown();
  const tell = tellEvents(host.reader, run, view);
  let recent: StoredEvent[] = [];
  let cursor: number | undefined;
  let head = 0;
  let picture: RunPicture | undefined;
  let isPumping = false;
  let isWoken = false;
  let isClosed = false;

  const unwatch = pictures.watch(run, {
    committed(notice: CommitNotice) {
      if (isNextFor(notice)) {
        for (const message of commitMessages(notice)) outbox.send(message);
        cursor = (notice.events.at(-1)?.event.seq ?? notice.seq - 1) + 1;
        head = cursor;
        return;
      }
      const last = notice.events.at(-1);
      if (last !== undefined) head = Math.max(head, last.event.seq + 1);
      const isTooMany = recent.length + notice.events.length > KEPT_EVENTS;
      recent = isTooMany || !outbox.isFree ? [] : [...recent, ...notice.events];
      stream.add(notice.stream, notice.seq - 1);
      pump();
    },
    pictured(taken) {
      picture = taken;
      pump();
    },
  });

  /** Whether the client has everything before a commit, so that it can be sent as it is. */
  function isNextFor({ seq }: CommitNotice): boolean {
    const isIdle = !isPumping && !isClosed && outbox.isFree;
    return view === 'stored' && isIdle && cursor === seq && head <= seq && !stream.hasBefore(Number.POSITIVE_INFINITY);
  }

  /** Anything that arrives while it sends is handled by the next pass. */
  function pump(): void {
    isWoken = true;
    if (isPumping || isClosed) return;
    isPumping = true;
    isWoken = false;
    void sendAll()
      .catch(thrown => {
        if (!isClosed) onFault(thrown);
      })
      .finally(() => {
        isPumping = false;
        if (isWoken) pump();
      });
  }

  async function sendAll(): Promise<void> {
    while (!isClosed && outbox.isFree) {
      if (cursor === undefined) cursor = await begin();
      else if (stream.hasBefore(cursor)) await sendStream(cursor);
      else if (cursor < head) cursor = await sendEvents(cursor);
      else if (picture !== undefined) sendPicture(picture);
      else return;
    }
  }

  async function begin(): Promise<number | undefined> {
    const snapshot = await (outline ? outlineOf(host, run) : snapshotOf(host, run));
    if (isClosed) return undefined;
    if (snapshot === undefined) {
      outbox.send({ kind: 'refused', run, error: unknownRun(run) });
      close();
      return undefined;
    }
    const { nextSeq } = snapshot.record;
    const first = Math.min(from ?? nextSeq, nextSeq);
    head = Math.max(head, nextSeq);
    shown.begin(snapshot);
    outbox.send({ kind: 'state', run, snapshot, next: first });
    return first;
  }

  async function sendEvents(next: number): Promise<number> {
    const at = recent.findIndex(({ event }) => event.seq === next);
    const isKept = at !== -1;
    // Only up to the known head, so that agent output stays between its events.
    const limit = Math.min(PAGE, head - next);
    const events = isKept ? recent.slice(at, at + PAGE) : await host.reader.events(run, next, limit);
    recent = isKept ? recent.slice(at + PAGE) : recent;
    const told = await tell(events);
    if (isClosed) return next;
    for (const { stored, beside } of told) {
      if (stream.hasBefore(stored.event.seq)) await sendStream(stored.event.seq);
      if (isClosed) return next;
      for (const event of beside) outbox.send({ kind: 'said', run, event, dropped: 0 });
      outbox.send({ kind: 'event', run, stored });
    }
    // An empty page means that the reader has not caught up; the next commit wakes us.
    if (events.length === 0) head = next;
    return next + events.length;
  }

  /** Sends the agent output that came before an event. */
  async function sendStream(seq: number): Promise<void> {
    for (const parts of stream.takeBefore(seq)) {
      if (view === 'stored') {
        outbox.send(streamMessage(run, parts));
        continue;
      }
      let { dropped } = parts;
      for (const event of await saidOf(parts)) {
        outbox.send({ kind: 'said', run, event, dropped });
        dropped = 0;
      }
    }
  }

  function sendPicture(taken: RunPicture): void {
    picture = undefined;
    for (const message of shown.messagesFor(taken)) outbox.send(message);
  }

  function close(): void {
    isClosed = true;
    unwatch();
  }

  pump();
  return { pump, close };
}
