import { portableHasher } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { byArtifact, decides, loopOf, snapshotOf, stepOf, workflowOf } from '../compile/sources.ts';
import { walkToEnd } from '../walk/generic-agent.ts';

describe('a workflow as it was compiled', () => {
  it('[W148] has its loops, derived steps, fragments and conditions as they were written', () => {
    const source = workflowOf([
      stepOf('scope', {
        promptFragments: [{ id: 'deep', when: { var: 'rigor', equals: 'THOROUGH' }, text: 'Take your time.' }],
      }),
      loopOf('review', byArtifact, [
        stepOf('look', { audit: { rubric: ['Is it true?'] } }),
        loopOf('each', { type: 'forEach', maxIterations: 5, items: 'files', itemVar: 'file' }, [
          stepOf('read', { prompt: 'Read {{file}}.' }),
        ]),
        stepOf('decide', decides),
      ]),
      stepOf('skipped', { runCondition: { var: 'rigor', equals: 'QUICK' } }),
      stepOf('end', {
        runCondition: {
          or: [
            { var: 'rigor', equals: 'thorough' },
            { var: 'n', gt: 3 },
          ],
        },
      }),
    ]);
    const turn = (n: number) => [
      `review@${n}::look`,
      `review@${n}::look__audit`,
      `review@${n}/each@0::read`,
      `review@${n}/each@1::read`,
      `review@${n}::decide`,
    ];
    expect(walkToEnd(snapshotOf(source), portableHasher(''), { context: { rigor: ' Thorough' } })).toMatchObject({
      keys: ['scope', ...turn(0), ...turn(1), 'end'],
      end: 'all_steps_done',
    });
  });
});
