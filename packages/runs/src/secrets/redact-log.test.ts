import type { Json } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { CommitView, Outcome } from '../commit-plan.ts';
import type { Change } from '../frames/change.ts';
import type { RewrittenRecord } from '../log/body-rewrite.ts';
import type { RecordBody, RecordHeader } from '../log/record.ts';
import { redactLog } from './redact-log.ts';

const view = {} as CommitView;

/** Record `n` of frame `n`, with one value. */
function record(n: number, change: Change, value: Json): RewrittenRecord {
  const write = { space: 'state', key: 'a', fromFrame: n, change } as const;
  const body = { salt: 's', frame: { index: n, digest: `sha256:${n}` }, intervals: [write] } as unknown as RecordBody;
  const header = { n, events: 0 } as RecordHeader;
  const outcome = {
    record: { frames: n + 1 },
    intervals: [{ ...write, value }],
    transitions: [],
  } as unknown as Outcome;
  return { record: { header, body, digest: 'sha256:0' as never }, outcome };
}

const set = (value: Json): Change => ({ kind: 'set', value });

describe('what a redaction leaves of bodies', () => {
  it('[L304] is a change between two values without the secret', () => {
    const mark = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('secret', '*'), undefined) as T;
    const data = <T>(value: T): T => (JSON.stringify(value)?.includes('secret') ? mark(value) : value);
    const rewrite = redactLog({
      filter: { text: text => text.replaceAll('secret', '*'), has: text => text.includes('secret'), data },
      hasher: () => 'sha256:9' as never,
      salt: () => 'salt',
      textOf: () => '',
      putText: () => 'sha256:2' as never,
      redactContent: () => undefined,
    });
    const splice: Change = { kind: 'patch', steps: [{ op: 'splice', path: [], at: 12, remove: 0, insert: '!' }] };
    const last = { last: () => ({ fromFrame: 0, value: () => 'the * ends' }) } as unknown as CommitView;
    expect(rewrite(record(0, set('the secret ends'), 'the secret ends'), view)).toMatchObject({
      frame: { digest: 'sha256:9', verifiable: false },
      intervals: [{ change: set('the * ends') }],
    });
    expect(rewrite(record(1, splice, 'the secret e!nds'), last)).toMatchObject({
      intervals: [{ change: set('the * e!nds') }],
    });
    expect(rewrite(record(2, set('nothing'), 'nothing'), last)).toBeUndefined();
  });
});
