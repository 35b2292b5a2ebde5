import { generatedFleetSchemas } from '../../../scripts/generated-fleet-schemas.ts';
import * as events from './fleet-event-samples.ts';
import * as samples from './fleet-samples.ts';

interface FleetRecord {
  /** The name of its generated schema. */
  readonly file: keyof typeof generatedFleetSchemas;
  readonly sample: object;
  /** Where the sample may hold fields that no schema declares. */
  readonly freeForm?: readonly string[];
}

const freeFormOfEvents: Readonly<Record<string, readonly string[]>> = {
  tool_call: ['input', 'output'],
  raw_provider: ['payload'],
};

const samplesByFile: readonly FleetRecord[] = [
  ...Object.values(events.agentEventSamples).map(sample => ({
    file: 'agent-event' as const,
    sample,
    freeForm: freeFormOfEvents[sample.type] ?? [],
  })),
  { file: 'agent-event' as const, sample: events.toolApprovalSample, freeForm: ['toolArgs'] },
  { file: 'adapter-event', sample: events.adapterEventSample },
  { file: 'event-envelope', sample: events.envelopeSample },
  {
    file: 'event-validation-result',
    sample: events.validationSample,
    freeForm: ['raw'],
  },
  { file: 'event-filter', sample: events.filterSample },
  { file: 'replay-request', sample: events.replaySample },
  { file: 'decision-option', sample: events.optionSample },
  { file: 'provenance', sample: events.provenanceSample },
  {
    file: 'resolution',
    sample: samples.resolutionSample,
    freeForm: ['modifiedArgs', 'value'],
  },
  ...samples.subjectSamples.map(sample => ({
    file: 'decision-subject' as const,
    sample,
    freeForm: sample.subtype === 'option' ? [] : ['toolArgs'],
  })),
  {
    file: 'decision-item',
    sample: samples.decisionItemSample,
    freeForm: ['subject.toolArgs', 'resolution.modifiedArgs', 'resolution.value'],
  },
  {
    file: 'decision-log-entry',
    sample: samples.decisionLogSample,
    freeForm: ['resolution.modifiedArgs', 'resolution.value'],
  },
  { file: 'decision-timeout-policy', sample: samples.timeoutPolicySample },
  { file: 'orphaned-decision-policy', sample: samples.orphanPolicySample },
  ...samples.scopeSamples.map(sample => ({ file: 'brake-scope' as const, sample })),
  ...samples.releaseSamples.map(sample => ({
    file: 'brake-release-condition' as const,
    sample,
  })),
  { file: 'brake-action', sample: samples.brakeActionSample },
  { file: 'brake-record', sample: samples.brakeRecordSample },
  { file: 'tick-config', sample: samples.tickConfigSample },
  { file: 'trust-calibration-config', sample: samples.calibrationSample },
  { file: 'trust-calibration-profile', sample: samples.calibrationProfileSample },
  { file: 'trust-change', sample: samples.trustChangeSample },
  { file: 'trust-profile', sample: samples.trustProfileSample },
];

/** Every record of the fleet with whole samples. */
export const fleetRecords = samplesByFile.map(record => ({ ...record, schema: generatedFleetSchemas[record.file] }));
