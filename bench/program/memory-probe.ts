import { writeFileSync } from 'node:fs';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a program and its threads before they begin: on SIGUSR2 every thread collects its garbage and says what is left; the
 * sum and the resident memory of the process are written to the file that MEMORY_FILE names.
 */
export interface MemoryReport {
  readonly heaps: readonly number[];
  readonly rss: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const channel = new BroadcastChannel('signalbox-bench-memory');
(channel as unknown as { unref(): void }).unref();

/** For the threads to collect theirs. */
const WAIT_MS = 4_000;
const file = process.env.MEMORY_FILE;
if (!isMainThread) {
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    // Other threads answer on this channel, too.
    if (data === 'collect') channel.postMessage(left());
  };
} else if (file !== undefined) {
  process.on('SIGUSR2', () => {
    const heaps: number[] = [];
    channel.onmessage = event => heaps.push((event as unknown as { readonly data: number }).data);
    channel.postMessage('collect');
    setTimeout(() => {
      heaps.push(left());
      writeFileSync(file, JSON.stringify({ heaps, rss: process.memoryUsage.rss() } satisfies MemoryReport));
    }, WAIT_MS);
  });
}

/** Bytes of objects and buffers that this thread holds. */
function left(): number {
  collect();
  collect();
  const { used_heap_size: objects, external_memory: buffers } = getHeapStatistics();
  return objects + buffers;
}
