import { describe, expect, it } from 'vitest';
import { artifactSample, at, edgeSample, ids, nodeSample, runSample } from '../../test/contract-samples.ts';
import { refusal, requiredFields, without } from '../../test/refusal.ts';
import { contractRunStatus, globalMode, run, runMode, runPatch, runPhase } from './run.ts';

describe('run', () => {
  it('[M29] requires what the contract requires', () => {
    expect(requiredFields(run, runSample)).toEqual(Object.keys(runSample).filter(field => field !== 'stopReason'));
  });

  it('[M29] may be empty', () => {
    const empty = { ...without(runSample, 'stopReason'), nodes: {}, edges: {}, artifacts: {} };
    expect(run.parse(empty)).toEqual(empty);
  });

  it('[M29] has the closed sets of the contract', () => {
    expect([contractRunStatus.options, runPhase.options, runMode.options, globalMode.options]).toEqual([
      ['queued', 'running', 'paused', 'completed', 'failed'],
      ['BOOT', 'EXECUTE', 'VERIFY', 'DOCS_SYNC', 'DONE'],
      ['AUTO', 'INTERACTIVE'],
      ['PLANNING', 'IMPLEMENTATION'],
    ]);
  });

  it.each([
    ['another version', { contractVersion: '2' }, 'contractVersion: invalid_value'],
    ['a version that is a number', { contractVersion: 1 }, 'contractVersion: invalid_value'],
    ['a stored status', { status: 'waiting' }, 'status: invalid_value'],
    ['another phase', { phase: 'boot' }, 'phase: invalid_value'],
    ['another mode', { mode: 'auto' }, 'mode: invalid_value'],
    ['another global mode', { globalMode: 'REVIEW' }, 'globalMode: invalid_value'],
    ['an upper-case id', { id: ids.run.toUpperCase().replace('0', 'A') }, 'id: invalid_format'],
    ['a time that is not UTC', { updatedAt: '2026-01-01T01:00:00+01:00' }, 'updatedAt: invalid_format'],
    ['a time that is a number', { createdAt: 0 }, 'createdAt: invalid_type'],
    ['no reason in the reason', { stopReason: '' }, 'stopReason: too_small'],
    ['nodes by another key', { nodes: { first: nodeSample } }, 'nodes.first: invalid_key'],
    ['edges by another key', { edges: { first: edgeSample } }, 'edges.first: invalid_key'],
    ['artifacts by another key', { artifacts: { first: artifactSample } }, 'artifacts.first: invalid_key'],
    ['a list of nodes', { nodes: [nodeSample] }, 'nodes: invalid_type'],
    ['a node that is none', { nodes: { [ids.node]: null } }, `nodes.${ids.node}: invalid_type`],
  ])('[M29] refuses %s', (_, change, problem) => {
    expect(refusal(run, { ...runSample, ...change })).toEqual([problem]);
  });
});

describe('run patch', () => {
  it('[M38] holds any of the fields that may change', () => {
    const whole = {
      status: 'paused',
      stopReason: 'by a person',
      phase: 'DONE',
      mode: 'AUTO',
      globalMode: 'PLANNING',
      updatedAt: at,
    };
    expect([runPatch.parse(whole), runPatch.parse({}), runPatch.parse({ status: 'paused' })]).toEqual([
      whole,
      {},
      { status: 'paused' },
    ]);
  });

  it.each(['id', 'contractVersion', 'createdAt', 'nodes', 'edges', 'artifacts'] as const)(
    '[M38] does not hold %s',
    field => {
      expect(refusal(runPatch, { [field]: runSample[field] })).toEqual([': unrecognized_keys']);
    },
  );
});
