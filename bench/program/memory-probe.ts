import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a program and its threads before they begin: on SIGUSR2 every thread collects its garbage, then the resident memory of
 * the process is written to the file that MEMORY_FILE names.
 */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const channel = new BroadcastChannel('collect');
channel.onmessage = () => collect();
(channel as unknown as { unref(): void }).unref();

/** For the threads to collect theirs. */
const WAIT_MS = 1_000;
const file = process.env.MEMORY_FILE;
if (isMainThread && file !== undefined) {
  process.on('SIGUSR2', () => {
    channel.postMessage('collect');
    collect();
    setTimeout(() => {
      collect();
      writeFileSync(file, JSON.stringify(process.memoryUsage()));
    }, WAIT_MS);
  });
}
