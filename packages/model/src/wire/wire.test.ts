import { describe, expect, it } from 'vitest';
import { refusal } from '../../test/refusal.ts';
import type { RunId } from '../ids.ts';
import { answerBody } from './decisions.ts';
import { editBody } from './forks.ts';
import { runsQuery, signalBody, startBody, stateQuery } from './requests.ts';
import { runSummary } from './run-summary.ts';
import { clientMessage, serverMessage } from './socket.ts';

const id = '01890000-0000-7000-8000-00000000dead' as RunId;
const at = '2026-01-01T00:00:00.000Z';
const summary = {
  id,
  contractVersion: '1',
  status: 'paused',
  phase: 'EXECUTE',
  mode: 'AUTO',
  globalMode: 'IMPLEMENTATION',
  kind: 'plan',
  createdAt: at,
  updatedAt: at,
  record: {
    id,
    driver: 'plan',
    name: 'release',
    tags: [],
    status: 'waiting',
    limits: {},
    frames: 2,
    nextSeq: 7,
    head: `sha256:${'0'.repeat(64)}`,
    createdAt: at,
    updatedAt: at,
  },
  driven: true,
  openDecisions: 1,
};

describe('requests', () => {
  it('[M53] refuse a field that they do not declare', () => {
    expect(startBody.parse({ file: 'a.tsx' })).toEqual({ file: 'a.tsx' });
    expect(refusal(startBody, { file: 'a.tsx', inputs: {} })).not.toEqual([]);
    expect(refusal(signalBody, { name: 'go', by: 'me' })).not.toEqual([]);
    expect(refusal(clientMessage, { kind: 'subscribe', run: id, token: 'x' })).not.toEqual([]);
    expect(refusal(clientMessage, { kind: 'shout' })).not.toEqual([]);
  });

  it('[M70] an edit of state names an operation that is known and brings its value, or sets, or takes away', () => {
    const edit = { key: 'n', reason: 'why' };
    for (const op of ['increment', 'append', 'merge']) {
      expect(editBody.parse({ ...edit, op, value: 1 })).toEqual({ ...edit, op, value: 1 });
      expect(refusal(editBody, { ...edit, op })).not.toEqual([]);
    }
    expect(editBody.parse({ ...edit, op: 'append', value: null })).toEqual({ ...edit, op: 'append', value: null });
    expect(editBody.parse(edit)).toEqual(edit);
    for (const op of ['set', 'delete', '', null, 1])
      expect(refusal(editBody, { ...edit, op, value: 1 })).not.toEqual([]);
  });

  it('[M53] read numbers and lists from the texts of a query', () => {
    expect(runsQuery.parse({ status: 'running,waiting', limit: '5' })).toEqual({
      status: ['running', 'waiting'],
      limit: 5,
    });
    expect(stateQuery.parse({ frame: '0' })).toEqual({ frame: 0 });
    for (const frame of ['-1', '1.5', 'x', '1e99']) expect(refusal(stateQuery, { frame })).not.toEqual([]);
  });
});

describe('answers', () => {
  it('[M54] ignore a field that a newer server adds, and refuse what is missing', () => {
    expect(runSummary.parse({ ...summary, more: 1, record: { ...summary.record, more: 2 } })).toEqual(summary);
    expect(serverMessage.parse({ kind: 'run', run: id, summary, more: 1 })).toEqual({ kind: 'run', run: id, summary });
    const about = { ...summary, record: { ...summary.record, directory: '/home/a/shop' } };
    expect(runSummary.parse(about)).toEqual(about);
    const { driven: _, ...less } = summary;
    expect(refusal(runSummary, less)).not.toEqual([]);
  });
});

describe('an answer to a decision', () => {
  it('[M55] is the contract’s or ours, with the hash of what was shown or without', () => {
    const proposalHash = `sha256:${'a'.repeat(64)}`;
    const resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' };
    for (const body of [
      { status: 'approved' },
      { status: 'denied', proposalHash, rationale: 'no' },
      { status: 'modified', modifiedArgs: {} },
      { resolution, proposalHash },
    ]) {
      expect(answerBody.parse(body)).toEqual(body);
    }
    for (const body of [{}, { status: 'approved', resolution }, { status: 'modified' }, { resolution: {} }]) {
      expect(refusal(answerBody, body)).not.toEqual([]);
    }
  });
});
