import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into a program before it begins: how late its event loop was, in ms, from the first SIGUSR2 until its end, in the
 * file that LOOP_DELAY_FILE names.
 */
const file = process.env.LOOP_DELAY_FILE;
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('SIGUSR2', () => delay.reset());
process.on('exit', () => {
  const ms = (nanoseconds: number) => Math.round(nanoseconds / 1e4) / 100;
  const report = { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) };
  if (file !== undefined) writeFileSync(file, JSON.stringify(report));
});
