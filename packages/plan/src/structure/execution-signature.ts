import { hash } from 'node:crypto';
import { workEntry } from '../nodes/node-kinds.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { plainText } from '../state/plain-text.ts';

/**
 * The identity of a node's work, as 16 hex digits. A node that succeeded runs again when it changes. Labels, handlers, retries and time
 * limits are not part of it: they do not change the work.
 */
export function executionSignature({ kind, data }: RunnableNode, environment = ''): string {
  const parts = { kind, ...workEntry(kind).signature(data as never, environment) };
  return hash('sha256', plainText(parts), 'hex').slice(0, 16);
}
