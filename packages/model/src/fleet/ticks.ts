import * as z from 'zod';

export const tickConfig = z.strictObject({
  /** Milliseconds of the wall clock per tick. A tenth of it is ten times the speed. */
  intervalMs: z.int().positive(),
  /** `manual`: ticks advance only on request. */
  mode: z.enum(['wall_clock', 'manual']),
});
export type TickConfig = Readonly<z.infer<typeof tickConfig>>;

export const defaultTickConfig: TickConfig = { intervalMs: 1000, mode: 'wall_clock' };

/**
 * The one source of logical time.
 *
 * 1. The count never decreases and is kept over restarts (R33).
 * 2. It stands still while no agent is working or waiting.
 * 3. Handlers are called in the order they subscribed, once per tick, after the new count is readable.
 */
export interface TickService {
  currentTick(): number;
  /** Returns a function that ends the subscription. */
  onTick(handler: (tick: number) => void): () => void;
  start(): void;
  stop(): void;
  /** Manual mode only. */
  advance(ticks: number): void;
}
