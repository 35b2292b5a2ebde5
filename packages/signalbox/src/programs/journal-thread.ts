/** The built entry of the thread that writes journals and logs. */
import workerThreads from 'node:worker_threads';
import { runScript } from './kept-script.ts';

const data: { readonly codeDirectory?: string; keepCode?: () => void } = workerThreads.workerData;
let keep = () => {};
// Before the script runs: it consumes `workerData` and leaves it to no other code.
data.keepCode = () => keep();
({ keep } = runScript(new URL('./journal-worker.script.js', import.meta.url), data.codeDirectory));
