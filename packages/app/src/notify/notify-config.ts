import type { Result } from '@signalbox/model';
import * as z from 'zod';
import { readConfigPart } from '../settings/config-file.ts';

/** What somebody may want to know outside of the console. */
const notifyKind = z.enum(['decision', 'failed', 'completed']);
export type NotifyKind = z.infer<typeof notifyKind>;

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time like 22:00');

/** The part `notify` of the configuration. */
export const notifyPart = z.strictObject({
  /** An address that gets a POST with JSON for each notice. */
  webhook: z.url({ protocol: /^https?$/ }).optional(),
  /** A program and its arguments; it gets the notice as JSON on its standard input. */
  command: z.array(z.string().min(1).max(4096)).min(1).max(64).readonly().optional(),
  /** Which ones; by default only decisions. */
  kinds: z.array(notifyKind).min(1).readonly().optional(),
  /** No notices between two times of the day, in the time zone of this machine. */
  quiet: z.strictObject({ from: time, to: time }).optional(),
});
export type NotifyConfig = z.infer<typeof notifyPart>;

export function readNotifyConfig(dataDirectory: string): Result<NotifyConfig | undefined, string> {
  return readConfigPart(dataDirectory, 'notify', notifyPart);
}
