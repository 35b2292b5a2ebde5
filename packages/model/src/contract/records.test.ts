import { describe, expect, it } from 'vitest';
import {
  artifactSample,
  edgeSample,
  eventSamples,
  handoffSample,
  messageSample,
  nodeSample,
  runSample,
  toolSample,
} from '../../test/contract-samples.ts';
import { openObjects, refusal, withText } from '../../test/refusal.ts';
import { approvalResolution } from './approval.ts';
import { artifact } from './artifact.ts';
import { edge } from './edge.ts';
import { runEvent } from './event.ts';
import { handoff } from './handoff.ts';
import { message } from './message.ts';
import { node } from './node.ts';
import { run } from './run.ts';
import { toolCall, toolError, toolResult } from './tool.ts';

const freeForm: Readonly<Record<string, readonly string[]>> = {
  'handoff.sent': ['handoff.payload.structured'],
  'tool.proposed': ['tool.args'],
  'approval.requested': ['tool.args'],
  'approval.resolved': ['resolution.modifiedArgs'],
};

/** Every record with a whole sample, and the places in it where the contract fixes no fields. */
const records = [
  ['run', run, runSample, []],
  ['node', node, nodeSample, []],
  ['edge', edge, edgeSample, []],
  ['handoff', handoff, handoffSample, ['payload.structured']],
  ['message', message, messageSample, []],
  ['artifact', artifact, artifactSample, []],
  ['tool call', toolCall, toolSample, ['args']],
  ['tool result', toolResult, { ok: true, output: { a: 'x' } }, ['output']],
  ['tool error', toolError, { message: 'exit code 1' }, []],
  ['approval', approvalResolution, { status: 'approved' }, []],
  ['modified approval', approvalResolution, { status: 'modified', modifiedArgs: { a: 1 } }, ['modifiedArgs']],
  ...Object.entries(eventSamples).map(([type, sample]) => [type, runEvent, sample, freeForm[type] ?? []] as const),
] as const;

describe('the records of the contract', () => {
  it.each(records)('[M27] %s: accepts its sample and gives it back', (_, schema, sample) => {
    expect(schema.parse(sample)).toEqual(sample);
  });

  it.each(records)('[M27] %s: refuses undeclared fields except in free-form data', (_, schema, sample, open) => {
    expect(openObjects(schema, sample)).toEqual(open);
  });

  it.each(records)('[M27] %s: is an object', (_, schema) => {
    const others = [null, undefined, [], 'text', 1, true];
    expect(others.filter(value => refusal(schema, value).length === 0)).toEqual([]);
  });

  it.each(records)('[M28] %s: has no text without a UTF-8 form', (_, schema, sample) => {
    const variants = withText(sample, '\ud800');
    expect(variants.length).toBeGreaterThan(0);
    expect(variants.filter(value => refusal(schema, value).length === 0)).toEqual([]);
  });
});
