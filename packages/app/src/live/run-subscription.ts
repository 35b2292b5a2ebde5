import type { RunOutline } from '@signalbox/model';
import type { CommitNotice, StoredEvent } from '@signalbox/runs';
import { tellEvents } from '../contract-view/event-page.ts';
import { outlineOf, snapshotOf } from '../contract-view/run-view.ts';
import { unknownRun } from '../host/find-run.ts';
import type { RunHost } from '../host/run-host.ts';
import type { Outbox, Subscription, WatchedRun } from './live-runs.ts';
import type { RunPicture, RunPictures } from './run-picture.ts';
import { saidEvents } from './said-events.ts';
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
 * 5. Nothing is sent while the client has no room; only the newest picture waits.
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
        const chunks = parts.chunks.map(({ messageBefore: _, ...chunk }) => chunk);
        outbox.send({ kind: 'stream', run, ...parts, chunks });
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
    for (const message of shown.messagesFor(taken)) outbox.send({ ...message, run });
  }

  function close(): void {
    isClosed = true;
    unwatch();
  }

  pump();
  return { pump, close };
}

type PictureMessage =
  | { readonly kind: 'run'; readonly summary: RunPicture['summary'] }
  | { readonly kind: 'nodes'; readonly put: RunPicture['tree']; readonly gone: readonly string[] }
  | { readonly kind: 'decisions'; readonly decisions: RunPicture['decisions'] }
  | { readonly kind: 'tasks'; readonly tasks: RunPicture['tasks'] };

/** The last state that a client was sent, as text for comparison. */
export class Shown {
  private seq = 0;
  private nodes = new Map<string, string>();
  private readonly rest = { summary: '', decisions: '', tasks: '' };

  begin(snapshot: RunOutline): void {
    this.seq = snapshot.record.nextSeq;
    this.nodes = new Map(snapshot.tree.map(node => [node.id, JSON.stringify(node)]));
    this.rest.decisions = JSON.stringify(snapshot.decisions);
    this.rest.tasks = JSON.stringify(snapshot.tasks);
  }

  /** The messages that update the client to this picture. */
  messagesFor({ summary, tree, decisions, tasks }: RunPicture): readonly PictureMessage[] {
    if (summary.record.nextSeq < this.seq) return [];
    this.seq = summary.record.nextSeq;
    const texts = new Map(tree.map(node => [node.id, JSON.stringify(node)]));
    const put = tree.filter(node => this.nodes.get(node.id) !== texts.get(node.id));
    const gone = [...this.nodes.keys()].filter(id => !texts.has(id));
    this.nodes = texts;
    return [
      ...(put.length + gone.length > 0 ? [{ kind: 'nodes' as const, put, gone }] : []),
      ...(this.isNew('tasks', tasks) ? [{ kind: 'tasks' as const, tasks }] : []),
      ...(this.isNew('decisions', decisions) ? [{ kind: 'decisions' as const, decisions }] : []),
      ...(this.isNew('summary', summary) ? [{ kind: 'run' as const, summary }] : []),
    ];
  }

  private isNew(part: 'summary' | 'decisions' | 'tasks', value: unknown): boolean {
    const text = JSON.stringify(value);
    if (text === this.rest[part]) return false;
    this.rest[part] = text;
    return true;
  }
}
