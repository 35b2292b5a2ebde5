import { canonicalJson, type Json, utf8Length } from '@signalbox/model';
import type { CompiledWorkflowSnapshotV1 } from '@signalbox/workflow';

/** One part of what a workflow's hash covers. */
export interface HashInput {
  readonly part: string;
  /** The names in it, or its text. */
  readonly what: string;
  /** Of its canonical JSON. */
  readonly bytes: number;
}

/** What the hash of a workflow covers, part by part: every member of the snapshot that is hashed, the largest first; empty ones are left out. */
export function hashInputs(snapshot: CompiledWorkflowSnapshotV1): readonly HashInput[] {
  return Object.entries(snapshot)
    .flatMap(([part, value]) => {
      if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
      const canonical = canonicalJson(value as Json);
      return canonical === '{}' ? [] : [{ part, what: named(value as Json), bytes: utf8Length(canonical) }];
    })
    .sort((one, other) => other.bytes - one.bytes);
}

const IDS = [
  'stepId',
  'loopId',
  'contractRef',
  'featureId',
  'assessmentId',
  'conditionId',
  'name',
  'id',
  'code',
] as const;

function named(value: Json): string {
  if (!Array.isArray(value)) return typeof value === 'object' ? Object.keys(value ?? {}).join(', ') : String(value);
  const names = value.flatMap(each => {
    if (typeof each === 'string') return [each];
    const id = IDS.find(key => typeof Reflect.get(each as object, key) === 'string');
    return id === undefined ? [] : [String(Reflect.get(each as object, id))];
  });
  return `${value.length}: ${names.join(', ')}`;
}
