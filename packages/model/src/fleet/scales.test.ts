import {
  type ActionKind,
  actionKind,
  type BlastRadius,
  blastRadius,
  blastRadiusRank,
  type ControlMode,
  controlMode,
  type Severity,
  severity,
  severityRank,
} from '@signalbox/model';
import { describe, expect, it } from 'vitest';

const severities: readonly Severity[] = ['warning', 'low', 'medium', 'high', 'critical'];
const radii: readonly BlastRadius[] = ['trivial', 'small', 'medium', 'large', 'unknown'];
const modes: readonly ControlMode[] = ['orchestrator', 'adaptive', 'ecosystem'];
const actions: readonly ActionKind[] = ['create', 'update', 'delete', 'review', 'deploy'];

describe('the scales of the fleet', () => {
  it('[M202] have exactly the values of the specification', () => {
    expect([severity.options, blastRadius.options, controlMode.options, actionKind.options]).toEqual([
      severities,
      radii,
      modes,
      actions,
    ]);
  });

  it('[M202] are ordered from least to most, and an unknown blast radius is the highest', () => {
    expect(severities.toSorted((a, b) => severityRank(a) - severityRank(b))).toEqual(severities);
    expect(radii.toReversed().toSorted((a, b) => blastRadiusRank(a) - blastRadiusRank(b))).toEqual(radii);
    expect(Math.max(...radii.map(blastRadiusRank))).toBe(blastRadiusRank('unknown'));
  });
});
