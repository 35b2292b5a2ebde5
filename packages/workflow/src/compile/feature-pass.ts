import { canonicalJson, type JsonObject } from '@signalbox/model';
import { type Feature, featureOf, features } from './builtins/features.ts';
import { addContract, type Compilation, takeId } from './compilation.ts';
import type { Capability, CompiledStep, CompiledWorkflowSnapshotV1 } from './compiled-workflow.ts';
import type { Place } from './condition-pass.ts';
import { compare, meantOrOneOf, type ProblemList } from './problem.ts';
import { shapeFaults } from './shape-check.ts';
import type { SourceFeature } from './source-format.ts';

const CAPABILITIES_FEATURE = 'wr.features.capabilities';
const PROBE_TEMPLATE = 'wr.templates.capability_probe';

/** A feature that a workflow enables, with its configuration. */
export interface ResolvedFeature {
  readonly feature: Feature;
  readonly config: JsonObject;
  readonly at: string;
}

/** Each feature once, sorted by id: the order in the file does not matter. */
export function resolveFeatures(
  sources: readonly SourceFeature[] | undefined,
  place: Place,
  problems: ProblemList,
): readonly ResolvedFeature[] {
  const resolved = new Map<string, ResolvedFeature>();
  for (const [index, source] of (sources ?? []).entries()) {
    const at = place(sources ?? [], index);
    const id = typeof source === 'string' ? source : source.id;
    const config = typeof source === 'string' ? {} : (source.config ?? {});
    const feature = featureOf(id);
    if (feature === undefined) {
      problems.add('feature_unknown', at, `There is no feature "${id}".`, () =>
        meantOrOneOf(
          id,
          features.map(each => each.featureId),
        ),
      );
      continue;
    }
    for (const fault of shapeFaults(feature.config, config)) {
      const message = `The configuration of "${id}" is not right: ${fault.path || 'it'} ${fault.reason}.`;
      problems.add('feature_config', at, message, 'Correct its config.');
    }
    const before = resolved.get(id);
    if (before !== undefined && canonicalJson(before.config) !== canonicalJson(config)) {
      const message = `"${id}" is switched on twice, with different configurations.`;
      problems.add('feature_config', at, message, 'Keep one of them.');
    }
    if (before === undefined) resolved.set(id, { feature, config, at });
  }
  return [...resolved.values()].sort((left, right) => compare(left.feature.featureId, right.feature.featureId));
}

type Needs = CompiledWorkflowSnapshotV1['capabilities'];

/** The capabilities that the workflow needs. A step that delegates prefers delegation. */
export function capabilityNeeds(
  resolved: readonly ResolvedFeature[],
  delegatesAt: string | undefined,
  problems: ProblemList,
): Needs {
  const own = resolved.find(each => each.feature.featureId === CAPABILITIES_FEATURE);
  const listed = (name: string): ReadonlySet<Capability> => {
    const value = own?.config[name];
    return new Set(Array.isArray(value) ? (value as readonly Capability[]) : []);
  };
  const required = listed('required');
  const disabled = listed('disabled');
  const preferred = new Set(listed('preferred'));
  for (const capability of new Set([...required, ...preferred])) {
    if (!disabled.has(capability)) continue;
    const message = `The capability "${capability}" is both wanted and disabled.`;
    problems.add('capability_conflict', own?.at ?? '', message, 'Remove it from one of the lists.');
  }
  if (delegatesAt !== undefined) {
    if (disabled.has('delegation')) {
      const message = 'The step delegates, and delegation is disabled.';
      problems.add('capability_conflict', delegatesAt, message, 'Enable delegation, or do the work in one step.');
    }
    if (!required.has('delegation')) preferred.add('delegation');
  }
  const sorted = (set: ReadonlySet<Capability>) => [...set].sort();
  return {
    required: sorted(required),
    preferred: sorted(preferred).filter(each => !required.has(each)),
    disabled: sorted(disabled),
  };
}

const TRIALS: Readonly<Record<Capability, string>> = {
  delegation:
    'Spawn one subagent with your tool for subagents and ask it to answer with the word "ready". Do not simulate it.',
  web_browsing: 'Fetch one public page with your browsing or fetching tool. Do not answer from memory.',
};

/** A step that probes a required capability. */
export function probeStep(compilation: Compilation, capability: Capability, at: string): CompiledStep {
  const stepId = `wr_probe_${capability}`;
  takeId(compilation, stepId, at);
  addContract(compilation, 'wr.contracts.capability_observation', at);
  return {
    stepId,
    sourceId: stepId,
    title: `Check that ${capability.replace('_', ' ')} works`,
    kind: 'capability_probe',
    loops: [],
    prompt: `This workflow needs ${capability.replace('_', ' ')}. ${TRIALS[capability]}\n\nReport what happened for the capability "${capability}".`,
    fragments: [],
    guidance: [],
    askForFiles: false,
    hasValidation: false,
    confirmation: { kind: 'none' },
    output: { contractRef: 'wr.contracts.capability_observation', required: true },
    assessmentRefs: [],
    assessmentConsequences: [],
    notesRequired: false,
    functions: [],
    functionCalls: [],
    delegations: [],
    probe: { capability, templateId: PROBE_TEMPLATE },
    provenance: { source: 'feature_injected', originId: CAPABILITIES_FEATURE },
    injections: [],
  };
}
