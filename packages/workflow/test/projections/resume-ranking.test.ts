import { type SessionId, TRUNCATION_MARKER, utf8Length } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  type ResumableSession,
  type ResumeQuery,
  rankResumable,
  searchTokens,
} from '../../src/projections/resume-ranking.ts';
import { attempt, guidedSession } from '../session/guided-session.ts';

const HEAD = '4f3c2a1b0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a';
const id = (number: number) => `01900000-0000-7000-8000-${String(number).padStart(12, '0')}` as SessionId;

async function session(
  number: number,
  made: {
    readonly branch?: string;
    readonly head?: string;
    readonly notes?: string;
    readonly steps?: number;
    readonly workflowId?: string;
  } = {},
): Promise<ResumableSession> {
  const guided = guidedSession(id(number));
  const observations = [
    ...(made.branch === undefined ? [] : [observed('git_branch', 'short_string', made.branch)]),
    ...(made.head === undefined ? [] : [observed('git_head_sha', 'git_sha1', made.head)]),
  ] as never;
  let at = await guided.start({
    observations,
    ...(made.workflowId && { workflow: { ...workflowOf(made.workflowId) } }),
  });
  for (let step = 0; step < (made.steps ?? 1); step++) {
    at = await guided.advance(at, made.notes === undefined ? {} : { notesMarkdown: made.notes });
  }
  return { sessionId: id(number), health: 'healthy', events: guided.events(), workflowName: () => 'Bug hunt' };
}

function observed(key: string, type: string, value: string) {
  return { key, value: { type, value }, confidence: 'high' };
}

function workflowOf(workflowId: string) {
  return {
    workflowId,
    workflowHash: `sha256:${'cd'.repeat(32)}` as never,
    workflowSourceKind: 'project',
    workflowSourceRef: 'w.json',
  } as const;
}

const numbers = (sessions: readonly ResumableSession[], query: ResumeQuery) =>
  rankResumable(sessions, query).map(({ sessionId, whyMatched }) => [Number(sessionId.slice(-4)), ...whyMatched]);

describe('runs to resume', () => {
  it('[W91] come by tier: head, branch, notes, workflow, recency', async () => {
    const sessions = [
      await session(1, { workflowId: 'project.other' }),
      await session(2, { workflowId: 'project.parser-fix' }),
      await session(3, { notes: 'Looked at the parser-fix today.', workflowId: 'project.other' }),
      await session(4, { branch: 'topic/parser', workflowId: 'project.other' }),
      await session(5, { head: HEAD, workflowId: 'project.other' }),
    ];
    const query = { gitHeadSha: HEAD, gitBranch: 'topic', text: 'parser-fix' };
    expect(numbers(sessions, query)).toEqual([
      [5, 'matched_head_sha'],
      [4, 'matched_branch'],
      [3, 'matched_notes'],
      [2, 'matched_workflow_id'],
      [1, 'recency_fallback'],
    ]);
    expect(numbers(sessions.toReversed(), query)).toEqual(numbers(sessions, query));
  });

  it('[W91] within a tier by activity, then by id; all reasons are told', async () => {
    const sessions = [
      await session(3, { branch: 'main', steps: 1 }),
      await session(2, { branch: 'main', steps: 1 }),
      await session(4, { branch: 'main', steps: 3, notes: 'hunt' }),
    ];
    expect(numbers(sessions, { gitBranch: 'main', text: 'hunt' })).toEqual([
      [4, 'matched_branch', 'matched_notes', 'matched_workflow_id'],
      [2, 'matched_branch', 'matched_workflow_id'],
      [3, 'matched_branch', 'matched_workflow_id'],
    ]);
  });

  it('[W91] are healthy ones only, each run by its preferred tip', async () => {
    const guided = guidedSession(id(1));
    const root = await guided.start();
    const tip = await guided.advance(root);
    const other = await guided.start({ attemptId: attempt('other') });
    const healthy: ResumableSession = { sessionId: id(1), health: 'healthy', events: guided.events() };
    expect(rankResumable([healthy], {}).map(candidate => candidate.nodeId)).toEqual([other.nodeId, tip.nodeId]);
    for (const health of ['corrupt_tail', 'corrupt_head', 'unknown_version'] as const) {
      expect(rankResumable([{ ...healthy, health }], {})).toEqual([]);
    }
  });

  it('[W92] words match whole, all of them, after NFKC and lower case', async () => {
    expect([...searchTokens('Ｐarser-Fix, ÄB_1! x.y')]).toEqual(['parser-fix', 'b_1', 'x', 'y']);
    const sessions = [await session(1, { notes: 'The Parser drops tokens', workflowId: 'project.other' })];
    const matched = (text: string) => numbers(sessions, { text })[0]?.[1];
    expect(matched('tokens parser')).toBe('matched_notes');
    expect(matched('ＰＡＲＳＥＲ')).toBe('matched_notes');
    expect(matched('token')).toBe('recency_fallback');
    expect(matched('parser elephant')).toBe('recency_fallback');
    expect(matched('!!!')).toBe('recency_fallback');
    expect(matched('')).toBe('recency_fallback');
  });

  it('[W92] the marker of cut notes is no word of them', async () => {
    const sessions = [await session(1, { notes: 'y '.repeat(4000), workflowId: 'project.other' })];
    expect(numbers(sessions, { text: 'truncated' })[0]?.[1]).toBe('recency_fallback');
    expect(numbers(sessions, { text: 'y' })[0]?.[1]).toBe('matched_notes');
  });

  it('[W93] are five at most, with short excerpts', async () => {
    const sessions = await Promise.all([1, 2, 3, 4, 5, 6].map(number => session(number, { notes: 'ü'.repeat(3000) })));
    const candidates = rankResumable(sessions, {});
    expect(candidates.length).toBe(5);
    for (const { snippet } of candidates) {
      expect(utf8Length(snippet)).toBeLessThanOrEqual(2048);
      expect(snippet.endsWith(TRUNCATION_MARKER)).toBe(true);
    }
  });
});
