import { json, text } from '@signalbox/model';
import * as z from 'zod';
import type { PlanElement } from '../jsx/element.ts';
import { type NodeContent, present } from './kind-entry.ts';

// Parts of what authors write and of what is kept of it, shared by kinds of nodes.

/** A function that the author wrote. What it takes and returns is checked by the compiler, and by its caller. */
export const code = z.custom<(...args: never[]) => unknown>(value => typeof value === 'function', 'must be a function');
export const name = text.min(1, 'must not be empty');
export const count = z.int('must be a whole number').positive('must be at least 1');
export const plain = json.optional();
export const label = { label: text.optional() };
export const common = { id: name.optional(), ...label };

/** The content of nodes that are what their props say. */
export function asWritten({ props: { id: _, ...props } }: PlanElement): NodeContent {
  return { data: present(props) };
}
