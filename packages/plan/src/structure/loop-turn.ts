import type { NodeRecord } from './node-record.ts';
import type { LoopTurn } from './structure.ts';

/** The record of a loop after a turn. `scope` is the iteration around the loop. */
export function turned(record: NodeRecord | undefined, turn: LoopTurn['turn'], scope: number): NodeRecord {
  const loop = record?.loop;
  switch (turn) {
    case 'enter': {
      const total = loop === undefined ? 0 : loop.total + 1;
      return { status: 'running', iteration: scope, loop: { total, base: total, left: false } };
    }
    case 'advance':
      return {
        status: 'running',
        iteration: scope,
        loop: { ...loop, total: (loop?.total ?? 0) + 1, base: loop?.base ?? 0, left: false },
      };
    case 'leave':
      return { status: 'succeeded', iteration: scope, loop: { total: 0, base: 0, ...loop, left: true } };
  }
}
