import { nodeHasher } from '@signalbox/journal';
import type { EventId, Timestamp } from '@signalbox/model';
import { projectGaps } from '../../src/projections/gaps.ts';
import { nextCheckpointId } from '../../src/session/attempts.ts';
import { type Bundle, buildBundle } from '../../src/session/bundle.ts';
import { planCheckpoint } from '../../src/session/checkpoint-plan.ts';
import { planGapAnswer } from '../../src/session/gap-answer-plan.ts';
import { guidedId } from '../../src/session/ids.ts';
import { planPreferences } from '../../src/session/preference-plan.ts';
import { readManifest } from '../../src/session/session-manifest.ts';
import { attempt, guidedSession, SESSION, value, workflow, workflowHash } from './guided-session.ts';

/** One session with an event of every kind, exported. Frozen in `spec/vectors/workflow-bundle.json`. */
export async function goldenBundle(): Promise<Bundle> {
  const session = guidedSession();
  const root = await session.start({
    context: { ticket: 'ABC-1', größe: 3 },
    observations: [{ key: 'git_branch', value: { type: 'short_string', value: 'topic/α' }, confidence: 'med' }],
    preferences: { delta: [{ key: 'riskPolicy', value: 'balanced' }] },
  });
  await session.advance(root, {
    outcome: {
      kind: 'blocked',
      blockers: [
        {
          code: 'USER_ONLY_DEPENDENCY',
          pointer: { kind: 'workflow_step', stepId: 'first' },
          message: 'Ask the person.',
        },
      ],
    },
    gaps: [
      { reason: { category: 'user_only_dependency', detail: 'needs_user_approval' }, summary: 'Approve the plan.' },
    ],
  });
  const [gap] = projectGaps(session.events());
  if (gap === undefined) throw new Error('no gap');
  const answer = value(planGapAnswer(nodeHasher, SESSION, session.events(), gap.gapId, { kind: 'approved' }));
  if (answer.kind === 'answer') await session.append(answer);
  const next = await session.advance(root, {
    notesMarkdown: '## Done\n- größer 😀',
    artifacts: [{ sha256: nodeHasher('artifact'), contentType: 'application/json', byteLength: 8 }],
    contextDelta: { ticket: null, seen: [1, 2.5] },
    capabilities: [
      {
        capability: 'delegation',
        status: 'available',
        provenance: {
          kind: 'manual_claim',
          enforcementGrade: 'weak',
          detail: { claimedBy: 'agent', claim: 'available' },
        },
      },
    ],
    divergences: [{ reason: 'efficiency_skip', summary: 'Skipped a part.', relatedStepId: 'first' }],
    trace: [{ kind: 'selected_next_step', summary: 'In order.', refs: [{ kind: 'step_id', stepId: 'second' }] }],
  });
  const mark = { attemptId: nextCheckpointId(session.events(), next), notesMarkdown: 'So far.' };
  await session.append(value(planCheckpoint(session.node(next), mark)));
  const delta = [{ key: 'autonomy', value: 'full_auto_never_stop' }] as const;
  const change = { attemptId: attempt('change'), source: 'user', delta } as const;
  await session.append(value(planPreferences(session.events(), next, change)));
  await session.advance(next, { outcome: { kind: 'advanced', state: { kind: 'complete' } } });
  await session.advance(root);
  return value(
    buildBundle(nodeHasher, {
      bundleId: guidedId<EventId>('golden', 'bundle'),
      exportedAt: '2026-01-01T00:00:00.000Z' as Timestamp,
      producer: { appVersion: '0.1.0' },
      sessionId: SESSION,
      events: session.events(),
      manifest: readManifest(session.disk, session.directory, session.events().length),
      snapshotOf: session.snapshot,
      workflowOf: hash => (hash === workflowHash ? workflow : undefined),
    }),
  );
}
