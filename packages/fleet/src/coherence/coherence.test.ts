import { type CoherenceIssueId, type Digest, deriveId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import {
  agentNamed,
  artifact,
  artifactNamed,
  choose,
  decisionNamed,
  only,
  optionDecision,
  type Scene,
  scene,
  timeAt,
} from '../../test/scene.ts';
import { defaultCoherenceConfig } from './coherence-config.ts';
import { coherenceScore, coherenceTrend } from './coherence-score.ts';

const [maya, david] = [agentNamed('maya'), agentNamed('david')];
const issues = (current: Scene) =>
  Object.values(current.state.coherence.issues).map(({ category, severity, status }) => [category, severity, status]);
const file = (by: string, sourcePath = 'src/api.ts') => ({
  provenance: { createdBy: agentNamed(by), createdAt: timeAt(0), sourcePath },
});
const hash = `sha256:${'a'.repeat(64)}` as Digest;
const two = () => scene(['maya', 'david/frontend']);
const front = (name: string, more: object = {}) => artifact(name, { workstream: 'frontend', ...more }, 'david');

describe('layer 0', () => {
  it('[F154] finds two agents that write one file, once, within the window', () => {
    const current = two();
    current.emits('maya', artifact('one', file('maya')));
    current.emits('david', front('two', file('david')));
    current.emits('maya', artifact('one', file('maya')));
    expect(issues(current)).toEqual([['contradiction', 'high', 'open']]);
    const events = only(current.effects, 'commit_event').filter(({ envelope }) => envelope.event.type === 'coherence');
    expect(events).toHaveLength(1);
    const later = two();
    later.emits('maya', artifact('one', file('maya')));
    later.ticks(101);
    later.emits('david', front('two', file('david')));
    expect(issues(later)).toEqual([]);
    const uri = two();
    uri.emits('maya', artifact('one', { uri: 'artifact://x' }));
    uri.emits('david', front('two', { uri: 'artifact://x' }));
    expect(issues(uri)).toEqual([['contradiction', 'high', 'open']]);
  });

  it('[F154] finds decisions that disagree about an artifact', () => {
    const about = { affectedArtifactIds: [artifactNamed('api')] };
    const current = two();
    current.emits('maya', optionDecision('one', about));
    current.emits('david', optionDecision('same', about));
    expect(issues(current)).toEqual([]);
    current.emits('david', optionDecision('two', { ...about, recommendedOptionId: 'b' }));
    expect(issues(current)).toEqual([['contradiction', 'high', 'open']]);
    const closed = two();
    closed.emits('maya', optionDecision('one', about));
    closed.happens('decision_answered', { decisionId: decisionNamed('one'), resolution: choose('a'), by: 'ada' });
    closed.emits('david', optionDecision('two', { ...about, recommendedOptionId: 'b' }));
    expect(issues(closed)).toEqual([]);
  });

  it('[F154] finds dependencies on what the agent may not read, and duplicates', () => {
    const current = two();
    current.emits('david', front('page', { contentHash: hash }));
    current.emits(
      'maya',
      artifact('api', {
        provenance: { createdBy: maya, createdAt: timeAt(0), sourceArtifactIds: [artifactNamed('page')] },
      }),
    );
    expect(issues(current)).toEqual([['dependency_violation', 'medium', 'open']]);
    current.emits('maya', artifact('copy', { contentHash: hash }));
    expect(issues(current)).toContainEqual(['duplication', 'low', 'open']);
  });
});

describe('layers 1 and 2', () => {
  const [a, b] = [artifactNamed('api'), artifactNamed('page')].toSorted();
  const pair = `${a}:${b}`;
  const scanned = (config: Partial<typeof defaultCoherenceConfig> = {}) => {
    const current = scene(['maya', 'david/frontend'], {
      config: { coherence: { ...defaultCoherenceConfig, ...config } },
    });
    current.emits('maya', artifact('api'));
    current.emits('maya', artifact('picture', { kind: 'design', mimeType: 'image/png' }));
    current.emits('david', front('page'));
    return current;
  };
  const similar = (current: Scene, score: number) =>
    current.happens('similarities_computed', {
      scan: 1,
      scores: [{ a: artifactNamed('api'), b: artifactNamed('page'), score }],
    });

  it('[F155] compares what changed across workstreams', () => {
    const current = scanned();
    expect(only(current.ticks(9), 'request_similarities')).toEqual([]);
    expect(only(current.ticks(1), 'request_similarities')).toEqual([
      { kind: 'request_similarities', scan: 1, pairs: [[a, b]] },
    ]);
    expect(only(current.ticks(10), 'request_similarities')).toEqual([]);
    similar(current, 0.7);
    expect(issues(current)).toEqual([]);
    similar(current, 0.8);
    expect(issues(current)).toEqual([['duplication', 'low', 'open']]);
    const alone = scanned({ enableLayer2: false });
    similar(alone, 0.9);
    expect(issues(alone)).toEqual([['duplication', 'medium', 'open']]);
  });

  it('[F156] reviews pairs that are very alike, a few per hour', () => {
    const current = scanned({ layer2MaxReviewsPerHour: 1 });
    const [asked] = only(similar(current, 0.9), 'request_reviews');
    expect(asked?.candidates).toMatchObject([
      { artifactIdA: a, artifactIdB: b, similarityScore: 0.9, promotedToLayer2: true },
    ]);
    expect(only(similar(current, 0.95), 'request_reviews')).toEqual([]);
    current.happens('reviews_returned', {
      results: [
        {
          candidateId: pair,
          confirmed: true,
          category: 'contradiction',
          severity: 'critical',
          explanation: 'They disagree.',
          notifyAgentIds: [david],
        },
      ],
    });
    expect(issues(current)).toEqual([['contradiction', 'critical', 'open']]);
    current.emits('david', front('other'));
    const more = { scan: 2, scores: [{ a: artifactNamed('api'), b: artifactNamed('other'), score: 0.99 }] };
    expect(only(current.happens('similarities_computed', more), 'request_reviews')).toEqual([]);
    current.now += 3_600_000;
    expect(only(current.ticks(1), 'request_reviews')).toHaveLength(1);
  });

  it('[F156] does not look again at what a review dismissed', () => {
    const current = scanned();
    similar(current, 0.9);
    current.happens('reviews_returned', {
      results: [{ candidateId: pair, confirmed: false, explanation: 'Fine.', notifyAgentIds: [] }],
    });
    expect([issues(current), only(similar(current, 0.99), 'request_reviews')]).toEqual([[], []]);
  });

  it('[F157] skips a scan with too many artifacts, and says so', () => {
    const current = scanned({ layer1MaxArtifactsPerScan: 1 });
    const effects = current.ticks(10);
    expect(only(effects, 'request_similarities')).toEqual([]);
    expect(only(effects, 'commit_event')[0]?.envelope.event).toMatchObject({
      type: 'status',
      message: expect.stringContaining('scan skipped'),
    });
  });

  it('[F160] raises the threshold after many false positives', () => {
    const feedbackLoop = { ...defaultCoherenceConfig.feedbackLoop, enabled: true, minReviewsForAdjustment: 1 };
    const current = scanned({ feedbackLoop });
    similar(current, 0.9);
    current.happens('reviews_returned', {
      results: [{ candidateId: pair, confirmed: false, explanation: '', notifyAgentIds: [] }],
    });
    expect(current.state.coherence.promotionThreshold).toBe(0.87);
  });
});

describe('issues', () => {
  const reported = (_current: Scene, severity: 'critical' | 'high' | 'medium' | 'low', name: string) => {
    const issueId = deriveId<CoherenceIssueId>('test-issue', name);
    const fields = {
      issueId,
      title: name,
      description: '',
      category: 'gap',
      severity,
      affectedWorkstreams: ['backend'],
      affectedArtifactIds: [],
    } as const;
    return { issueId, fields };
  };

  it('[F158] lower the score until they are settled', () => {
    const current = scene();
    const found = (['critical', 'high', 'medium', 'low'] as const).map(severity => {
      const { issueId, fields } = reported(current, severity, severity);
      current.happens('issue_reported', { ...fields, missedBy: [], by: 'ada' });
      return issueId;
    });
    expect([coherenceScore(current.state.coherence), coherenceTrend(current.state.coherence, 0)]).toEqual([73, -27]);
    current.ticks(20);
    current.happens('issue_settled', { issueId: found[0] as CoherenceIssueId, as: 'resolved', by: 'ada' });
    expect([coherenceScore(current.state.coherence), coherenceTrend(current.state.coherence, 20)]).toEqual([88, 15]);
  });

  it('[F159] change trust when a person confirms or finds them', () => {
    const current = two();
    const { fields, issueId } = reported(current, 'high', 'found');
    current.emits('maya', { type: 'coherence', ...fields });
    current.happens('issue_settled', { issueId, as: 'confirmed', by: 'ada' });
    current.happens('issue_reported', { ...reported(current, 'high', 'missed').fields, missedBy: [david], by: 'ada' });
    expect([current.state.trust[maya]?.score, current.state.trust[david]?.score]).toEqual([51, 48]);
  });
});
