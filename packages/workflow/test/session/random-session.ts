import { nodeHasher } from '@signalbox/journal';
import { seededRng } from '@signalbox/testkit';
import { projectGaps } from '../../src/projections/gaps.ts';
import { nextCheckpointId } from '../../src/session/attempts.ts';
import { planCheckpoint } from '../../src/session/checkpoint-plan.ts';
import type { Place } from '../../src/session/event-draft.ts';
import { planGapAnswer } from '../../src/session/gap-answer-plan.ts';
import { planPreferences } from '../../src/session/preference-plan.ts';
import { attempt, type GuidedSession, guidedSession, pendingAt, value } from './guided-session.ts';

/** A session in which a seed decided what happened: walks, forks, blocks, checkpoints, answers, changes of mind. */
export async function randomSession(seed: number, steps: number): Promise<GuidedSession> {
  const rng = seededRng(seed);
  const session = guidedSession();
  const places: Place[] = [
    await session.start({
      context: { seed },
      observations: [
        { key: 'git_branch', value: { type: 'short_string', value: `topic-${seed}` }, confidence: 'high' },
      ],
    }),
  ];
  for (let step = 0; step < steps; step++) {
    const place = rng.pick(places);
    switch (rng.below(8)) {
      case 0:
        await session.advance(place, {
          outcome: {
            kind: 'blocked',
            blockers: [
              { code: 'USER_ONLY_DEPENDENCY', pointer: { kind: 'workflow_step', stepId: 'first' }, message: 'm' },
            ],
          },
          gaps: [
            {
              reason: { category: 'user_only_dependency', detail: 'needs_user_approval' },
              summary: `Approve ${step}.`,
            },
          ],
        });
        break;
      case 1: {
        const attemptId = nextCheckpointId(session.events(), place);
        await session.append(value(planCheckpoint(session.node(place), { attemptId, notesMarkdown: `mark ${step}` })));
        break;
      }
      case 2: {
        const open = projectGaps(session.events()).filter(gap => gap.resolvedBy === undefined);
        const gap = open.length === 0 ? undefined : rng.pick(open);
        if (gap === undefined) break;
        const answer = { kind: rng.pick(['approved', 'denied'] as const) };
        const plan = planGapAnswer(nodeHasher, place.sessionId, session.events(), gap.gapId, answer);
        if (plan.ok && plan.value.kind === 'answer') await session.append(plan.value);
        break;
      }
      case 3: {
        const delta = [{ key: 'riskPolicy', value: rng.pick(['balanced', 'aggressive'] as const) }] as const;
        const change = { attemptId: attempt(step), source: 'user', delta } as const;
        await session.append(value(planPreferences(session.events(), place, change)));
        break;
      }
      case 4:
        places.push(await session.start({ attemptId: attempt(`run ${step}`) }));
        break;
      default:
        places.push(
          await session.advance(place, {
            outcome: {
              kind: 'advanced',
              state: rng.below(4) === 0 ? { kind: 'complete' } : pendingAt(`s${step}`, 'first'),
            },
            notesMarkdown: `did ${step}`,
            artifacts: [{ sha256: nodeHasher(`artifact ${rng.below(5)}`), contentType: 'text/plain', byteLength: 1 }],
            contextDelta: { step },
            ...(rng.below(3) === 0 && {
              gaps: [
                {
                  reason: { category: 'contract_violation', detail: 'invalid_required_output' },
                  summary: `Invalid at ${step}.`,
                } as const,
              ],
              divergences: [{ reason: 'safety_stop', summary: `stopped at ${step}` } as const],
            }),
          }),
        );
    }
  }
  return session;
}
