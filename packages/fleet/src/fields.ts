import { text } from '@signalbox/model';
import * as z from 'zod';

export const count = z.int().nonnegative();

/** A point in logical time. */
export const tick = z.int().nonnegative();

/** A name that people and configurations use: of a tool, a workstream, a role, a plugin. */
export const name = text.min(1).max(256);
