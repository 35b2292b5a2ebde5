import { json, text } from '@signalbox/model';
import * as z from 'zod';
import type { PlanElement } from '../jsx/element.ts';
import { type NodeContent, present } from './kind-entry.ts';

// Parts of props and stored data that several node kinds share.

/** A function of the author. The compiler and its caller check its types. */
export const code = z.custom<(...args: never[]) => unknown>(value => typeof value === 'function', 'must be a function');
export const name = text.min(1, 'must not be empty');
export const count = z.int('must be a whole number').positive('must be at least 1');
export const plain = json.optional();
export const label = { label: text.optional() };
export const common = { id: name.optional(), ...label };

/** The content of nodes whose data are their props. */
export function asWritten({ props: { id: _, ...props } }: PlanElement): NodeContent {
  return { data: present(props) };
}
