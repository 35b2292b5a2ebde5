import type { Client, News } from '@signalbox/client';
import type { RunId } from '@signalbox/model';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { emptyStory, type RunStory, toldStory, withEvents, withFrames, withSpeech } from './run-story.ts';
import { createStore, nextFrame, type Store } from './store.ts';

const PAGE = 1000;
const EVENTS_READ = 500;

/** The story of a run, live while the page shows it. */
export function useRun(client: Client, run: RunId): RunStory {
  const store = useMemo(() => createStore(emptyStory, nextFrame), [client, run]);
  useEffect(() => follow(client, run, store), [client, run, store]);
  return useSyncExternalStore(store.subscribe, store.read);
}

/** Watches a run, and reads what came before. */
function follow(client: Client, run: RunId, store: Store<RunStory>): () => void {
  let isOver = false;
  const reading = new Set<string>();
  const heard = new Set<string>();
  const tell = (news: News): void => {
    store.change(story => toldStory(story, news));
    if (news.kind === 'state') {
      heard.clear();
      void readEvents(news.next);
      void readFrames(news.snapshot.record.frames);
    }
    if (news.kind === 'stream' && (store.read().speech.get(news.task)?.next ?? 0) < news.next)
      void readSpeech(news.task);
    for (const { id, status } of store.read().tasks) {
      if (status !== 'running' || heard.has(id)) continue;
      heard.add(id);
      void readSpeech(id);
    }
  };
  const watch = client.watch(run, tell, { outline: true });

  async function readEvents(next: number): Promise<void> {
    const from = Math.max(0, next - EVENTS_READ);
    if (next === 0) return;
    const read = await client.events(run, { from, limit: next - from });
    if (isOver) return;
    if (!read.ok) {
      store.change(story => ({ ...story, eventsFault: read.error }));
      return;
    }
    const events = read.value.events.map(({ event }) => event);
    store.change(({ eventsFault: _, ...story }) => withEvents(story, events));
  }

  /** Newest first: they are shown while the older ones load. */
  async function readFrames(frames: number): Promise<void> {
    const known = store.read().frames;
    const first = known.length > 0 ? (known.at(-1)?.index ?? -1) + 1 : 0;
    for (let end = frames; end > first && !isOver; end -= PAGE) {
      await idle();
      const from = Math.max(first, end - PAGE);
      const read = await client.frames(run, { from, limit: end - from });
      if (!read.ok || isOver) return;
      const marks = read.value.frames.map(({ index, at, trigger }) => ({
        index,
        at,
        trigger: trigger.kind,
        changes: trigger.keys?.length ?? 0,
      }));
      store.change(story => ({ ...story, frames: withFrames(story.frames, marks) }));
    }
  }

  /** Reads until there is nothing more. */
  async function readSpeech(task: string): Promise<void> {
    if (reading.has(task)) return;
    reading.add(task);
    for (let isMore = true; isMore && !isOver; ) {
      const from = store.read().speech.get(task)?.next ?? 0;
      const said = await client.stream(run, task, { from, limit: PAGE });
      isMore = said.ok && said.value.chunks.length > 0;
      if (said.ok && !isOver) store.change(story => withSpeech(story, task, said.value.chunks, said.value.next));
    }
    reading.delete(task);
  }

  return () => {
    isOver = true;
    watch.close();
  };
}

/** Until the browser is idle. */
function idle(): Promise<void> {
  return new Promise(resolve => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 1000 });
    else setTimeout(resolve, 100);
  });
}
