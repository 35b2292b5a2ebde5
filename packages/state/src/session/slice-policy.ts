import * as z from 'zod';

/**
 * What a rollback does to a slice: `state` is restored, `log` stays and only ever grows, `cache` is emptied because it can be
 * recomputed.
 */
export const slicePolicy = z.enum(['state', 'log', 'cache']);
export type SlicePolicy = z.infer<typeof slicePolicy>;

const DEFAULTS: ReadonlyMap<string, SlicePolicy> = new Map([
  ['Plan', 'state'],
  ['VisibilityOverrides', 'state'],
  ['WorkspaceDigest', 'cache'],
  ['ToolInvoked', 'log'],
  ['PromptRendered', 'log'],
  ['PromptExecuted', 'log'],
  ['Transcript', 'log'],
]);

export function defaultPolicy(sliceName: string): SlicePolicy {
  return DEFAULTS.get(sliceName) ?? 'state';
}
