import { hash } from 'node:crypto';
import { workEntry } from '../nodes/node-kinds.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { plainText } from '../state/plain-text.ts';

/**
 * What makes the work of a node what it is, as 16 hex digits. A node that succeeded runs again when it changes. Labels,
 * handlers, retries and time limits are no part of it: they do not change what is asked.
 */
export function executionSignature({ kind, data }: RunnableNode, environment = ''): string {
  const parts = { kind, ...workEntry(kind).signature(data as never, environment) };
  return hash('sha256', plainText(parts), 'hex').slice(0, 16);
}
