/** The built entry of the thread that drives plans. */
import workerThreads from 'node:worker_threads';
import { runScript } from './kept-script.ts';

const data: { readonly codeDirectory?: string; keepCode?: () => void } = workerThreads.workerData;
let keep = () => {};
// Before the script runs: it consumes `workerData` and leaves it to no other code.
data.keepCode = () => keep();
({ keep } = runScript(new URL('./plan-worker.script.js', import.meta.url), data.codeDirectory));
