import * as z from 'zod';
import { text } from '../json.ts';
import { type ControlMode, count, severity } from './scales.ts';

/** News for a running agent. `recommended` and `supplementary` are dropped when its context is full, the second first. */
export const contextInjection = z.strictObject({
  content: text,
  format: z.enum(['markdown', 'json', 'plain']),
  /** The version of the knowledge it was made from. An agent that already has the same content of that version ignores it. */
  snapshotVersion: count,
  estimatedTokens: count,
  priority: z.enum(['required', 'recommended', 'supplementary']),
});
export type ContextInjection = Readonly<z.infer<typeof contextInjection>>;

const workstreams = z.enum(['own', 'readable', 'all']);

export const contextReactiveTrigger = z.discriminatedUnion('on', [
  z.strictObject({ on: z.literal('artifact_approved'), workstreams }),
  z.strictObject({ on: z.literal('decision_resolved'), workstreams }),
  /** Of this severity or a higher one. */
  z.strictObject({ on: z.literal('coherence_issue'), severity }),
  z.strictObject({ on: z.literal('agent_completed'), workstreams: z.literal('readable') }),
  z.strictObject({ on: z.literal('brief_updated') }),
]);
export type ContextReactiveTrigger = Readonly<z.infer<typeof contextReactiveTrigger>>;

/** When a running agent gets news. Each of the three triggers is enough. */
export const contextInjectionPolicy = z.strictObject({
  /** A full refresh every so many ticks; null: never. */
  periodicIntervalTicks: z.int().positive().nullable(),
  /** Only what changed. */
  reactiveEvents: z.array(contextReactiveTrigger).readonly(),
  /** A refresh after so many events in workstreams that it reads; null: never. */
  stalenessThreshold: z.int().positive().nullable(),
  maxInjectionsPerHour: count,
  cooldownTicks: count,
});
export type ContextInjectionPolicy = Readonly<z.infer<typeof contextInjectionPolicy>>;

const limits = { maxInjectionsPerHour: 12, cooldownTicks: 5 };

/** What applies to an agent whose brief says nothing. */
export const defaultInjectionPolicies: Readonly<Record<ControlMode, ContextInjectionPolicy>> = {
  orchestrator: {
    periodicIntervalTicks: 10,
    reactiveEvents: [
      { on: 'artifact_approved', workstreams: 'readable' },
      { on: 'decision_resolved', workstreams: 'readable' },
      { on: 'coherence_issue', severity: 'high' },
    ],
    stalenessThreshold: 5,
    ...limits,
  },
  adaptive: {
    periodicIntervalTicks: 20,
    reactiveEvents: [
      { on: 'artifact_approved', workstreams: 'readable' },
      { on: 'decision_resolved', workstreams: 'readable' },
    ],
    stalenessThreshold: 10,
    ...limits,
  },
  ecosystem: {
    periodicIntervalTicks: 50,
    reactiveEvents: [{ on: 'coherence_issue', severity: 'critical' }],
    stalenessThreshold: 20,
    ...limits,
  },
};
