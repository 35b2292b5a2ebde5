import type { Capability } from '../compiled-workflow.ts';
import type { Shape } from '../shape.ts';

/** A workflow-wide option: guidance for its steps, and required capabilities of the agent. */
export interface Feature {
  readonly featureId: string;
  readonly purpose: string;
  readonly config: Shape;
  /** Added to the constraints of prompt blocks, or to the guidance of a step without them. */
  readonly stepGuidance: readonly string[];
}

const capabilities: readonly Capability[] = ['delegation', 'web_browsing'];
const capabilityList: Shape = { type: 'list', of: { type: 'one_of', values: capabilities } };

/** Sorted by `featureId`. */
export const features: readonly Feature[] = [
  {
    featureId: 'wr.features.capabilities',
    purpose: 'Says which capabilities the workflow needs, would like, or must not use; what it needs is probed first',
    config: {
      type: 'object',
      open: false,
      fields: [
        { name: 'required', required: false, shape: capabilityList },
        { name: 'preferred', required: false, shape: capabilityList },
        { name: 'disabled', required: false, shape: capabilityList },
      ],
    },
    stepGuidance: [
      'Use a capability (subagents, web browsing) only after you have seen it work here. If it is missing, do the work yourself and say so in your notes.',
    ],
  },
  {
    featureId: 'wr.features.subagent_guidance',
    purpose: 'Tells every step how to work with subagents',
    config: { type: 'object', open: false, fields: [] },
    stepGuidance: [
      'If you have subagents, give each a question of its own, all facts it needs and the form of its answer; start independent ones at the same time.',
      'What a subagent returns is evidence to weigh. You decide, and you answer for the result.',
    ],
  },
];

const byId = new Map(features.map(feature => [feature.featureId, feature]));

export function featureOf(featureId: string): Feature | undefined {
  return byId.get(featureId);
}
