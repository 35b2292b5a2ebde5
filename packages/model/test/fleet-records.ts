import { generatedFleetSchemas } from '../../../scripts/generated-fleet-schemas.ts';
import * as events from './fleet-event-samples.ts';
import * as plugins from './fleet-plugin-samples.ts';
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

const freeFormOfBrief = ['outputSchema', 'providerConfig', 'providerConfig.experimental'];

const each = (file: FleetRecord['file'], all: readonly object[]): readonly FleetRecord[] =>
  all.map(sample => ({ file, sample }));

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
  ...each('brake-scope', samples.scopeSamples),
  ...each('brake-release-condition', samples.releaseSamples),
  { file: 'brake-action', sample: samples.brakeActionSample },
  { file: 'brake-record', sample: samples.brakeRecordSample },
  { file: 'tick-config', sample: samples.tickConfigSample },
  { file: 'trust-calibration-config', sample: samples.calibrationSample },
  { file: 'trust-calibration-profile', sample: samples.calibrationProfileSample },
  { file: 'trust-change', sample: samples.trustChangeSample },
  { file: 'trust-profile', sample: samples.trustProfileSample },
  { file: 'secret-ref', sample: plugins.secretSample },
  { file: 'guardrail-policy', sample: plugins.guardrailPolicySample },
  ...each('escalation-predicate', plugins.predicateSamples),
  { file: 'escalation-rule', sample: plugins.ruleSample },
  { file: 'escalation-protocol', sample: plugins.protocolSample },
  { file: 'workspace-requirements', sample: plugins.workspaceSample },
  { file: 'knowledge-snapshot', sample: plugins.snapshotSample },
  { file: 'project-brief', sample: plugins.projectBriefSample },
  ...each('mcp-server-config', plugins.mcpServerSamples),
  { file: 'delegation-policy', sample: plugins.delegationPolicySample },
  { file: 'session-policy', sample: plugins.sessionPolicySample },
  ...each('context-reactive-trigger', plugins.triggerSamples),
  { file: 'context-injection-policy', sample: plugins.injectionPolicySample },
  { file: 'context-injection', sample: plugins.injectionSample },
  {
    file: 'agent-brief',
    sample: plugins.briefSample,
    freeForm: freeFormOfBrief,
  },
  { file: 'brief-changes', sample: plugins.changesSample },
  { file: 'agent-template', sample: plugins.templateSample },
  { file: 'plugin-capabilities', sample: plugins.capabilitiesSample },
  { file: 'agent-handle', sample: plugins.handleSample },
  { file: 'tool-risk-classification', sample: plugins.classificationSample },
  { file: 'plugin-facts', sample: plugins.pluginFactsSample },
  ...each('plugin-error', Object.values(plugins.pluginErrorSamples)),
  { file: 'agent-health-status', sample: plugins.healthSample },
  ...plugins.checkpointSamples.map(sample => ({
    file: 'sdk-checkpoint' as const,
    sample,
    freeForm: sample.sdk === 'gemini' ? ['stateSnapshot'] : [],
  })),
  {
    file: 'serialized-agent-state',
    sample: plugins.stateSample,
    freeForm: freeFormOfBrief.map(path => `briefSnapshot.${path}`),
  },
  { file: 'kill-request', sample: plugins.killSample },
  {
    file: 'kill-response',
    sample: plugins.killedSample,
    freeForm: freeFormOfBrief.map(path => `state.briefSnapshot.${path}`),
  },
  { file: 'crash-recovery-policy', sample: plugins.recoverySample },
  ...each('transport-address', plugins.addressSamples),
  { file: 'sandbox-info', sample: plugins.sandboxSample },
  { file: 'sandbox-health-response', sample: plugins.sandboxHealthSample },
  { file: 'sandbox-bootstrap', sample: plugins.bootstrapSample },
  { file: 'token-renew-request', sample: plugins.renewSample },
  { file: 'token-renew-response', sample: plugins.renewedSample },
  { file: 'artifact-upload', sample: plugins.uploadSample },
  { file: 'artifact-upload-result', sample: plugins.uploadedSample },
  ...Object.values(plugins.messageSamples).map(sample => ({
    file: 'fleet-message' as const,
    sample,
    freeForm: sample.type === 'decision_resolved' ? ['resolution.modifiedArgs', 'resolution.value'] : [],
  })),
];

/** Every record of the fleet with whole samples. */
export const fleetRecords = samplesByFile.map(record => ({ ...record, schema: generatedFleetSchemas[record.file] }));
