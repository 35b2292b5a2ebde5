import { describe, expect, it } from 'vitest';
import { artifactSample, ids } from '../../test/contract-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';
import { artifact, artifactKind, artifactRef, artifactRefOf, diffMetadata } from './artifact.ts';

describe('artifact', () => {
  it('[M35] requires everything but diff metadata, and all of that', () => {
    expect([requiredFields(artifact, artifactSample), requiredFields(diffMetadata, artifactSample.diff ?? {})]).toEqual(
      [Object.keys(artifactSample).filter(field => field !== 'diff'), ['filesChanged', 'summary']],
    );
  });

  it("[M35] has the contract's kinds, the plan's and the fleet's", () => {
    expect(artifactKind.options).toEqual([
      ...['diff', 'prompt', 'log', 'transcript', 'contextpack', 'report'],
      ...['markdown', 'table', 'progress', 'link', 'image'],
      ...['code', 'document', 'design', 'config', 'test', 'other'],
    ]);
  });

  it.each([
    ['another kind', { kind: 'binary' }, 'kind: invalid_value'],
    ['no name', { name: '' }, 'name: too_small'],
    ['no path', { path: '' }, 'path: too_small'],
    ['a node that is null', { nodeId: null }, 'nodeId: invalid_type'],
    ['a diff without files', { diff: { summary: '' } }, 'diff.filesChanged: invalid_type'],
  ])('[M35] refuses %s', (_, change, problem) => {
    expect(refusal(artifact, { ...artifactSample, ...change })).toEqual([problem]);
  });
});

describe('artifact reference', () => {
  it('[M33] is artifact:// and the id', () => {
    const ref = artifactRefOf(ids.artifact);
    expect([ref, artifactRef.parse(ref)]).toEqual(Array(2).fill(`artifact://${ids.artifact}`));
  });

  it.each([
    ids.artifact,
    'artifact://',
    'artifact://diff/123',
    `artifact:///${ids.artifact}`,
    `artifact://${ids.artifact.toUpperCase().replace('0', 'A')}`,
    `artifact://${ids.artifact}/more`,
    `artifact://${ids.artifact}\n`,
    `ARTIFACT://${ids.artifact}`,
    `http://${ids.artifact}`,
    null,
  ])('[M33] is not %j', value => {
    expect(artifactRef.safeParse(value).success).toBe(false);
  });
});
