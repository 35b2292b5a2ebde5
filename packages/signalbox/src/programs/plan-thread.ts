/** The built entry of the thread that drives plans. */
import workerThreads from 'node:worker_threads';
import { runScript } from './kept-script.ts';

const data: { readonly codeDirectory?: string; keepCode?: () => void } = workerThreads.workerData;
let keep = () => {};
// Before the script is run: it takes what it was started with, and leaves it to nobody.
data.keepCode = () => keep();
({ keep } = runScript(new URL('./plan-worker.script.js', import.meta.url), data.codeDirectory));
