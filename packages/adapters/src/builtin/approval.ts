import { cutAtWord, type Json, type JsonObject, type Resolution } from '@signalbox/model';
import type { DecisionKind } from '@signalbox/runs';
import type { AnyTool } from '@signalbox/state';

export function approvalKind(tool: AnyTool): DecisionKind {
  if (tool.name === 'run_command') return 'command_exec';
  return tool.effects.kind === 'files' ? 'file_edit' : 'external_api';
}

const MAX_WHY = 4_000;

/** Everything that a person needs to see about a call. */
export function proposalOf(tool: AnyTool, input: JsonObject, why: string): Json {
  return {
    tool: tool.name,
    input,
    risk: tool.risk,
    effects: tool.effects.kind,
    why: cutAtWord(why, MAX_WHY).toWellFormed(),
  };
}

export type Permission =
  | { readonly kind: 'run'; readonly input: JsonObject; readonly modified: boolean; readonly rationale: string }
  | { readonly kind: 'denied'; readonly reason: string };

/** The effect of a person's answer on a call. Anything that does not clearly allow it denies it. */
export function permissionOf(resolution: Resolution, input: JsonObject): Permission {
  const { rationale } = resolution;
  switch (resolution.resolutionType) {
    case 'approve':
      return { kind: 'run', input, modified: false, rationale };
    case 'modify':
      return resolution.modifiedArgs === undefined
        ? { kind: 'denied', reason: `A person wanted another input and gave none. ${rationale}` }
        : { kind: 'run', input: resolution.modifiedArgs, modified: true, rationale };
    case 'reject':
      return { kind: 'denied', reason: `A person denied this call. ${rationale}` };
    case 'choose_option':
      return { kind: 'denied', reason: `A person chose an option that this call does not have. ${rationale}` };
  }
}
