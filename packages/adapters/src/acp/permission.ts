import type { PermissionOption } from '@agentclientprotocol/sdk';
import { cutAtWord, type Json, type JsonObject, type Resolution } from '@signalbox/model';
import type { Assignment, DecisionKind } from '@signalbox/runs';
import { plainData } from '../attempt/plain-data.ts';
import { diffsOf, hasInput, inputOf, kindOf, type ToldCall, toolOf } from './asked-call.ts';
import type { AgentRow, InstalledAgent, ToolKind } from './register.ts';
import { isRequestForDecision } from './turn-questions.ts';

/** Our own names for what tools of these kinds do: a plan may use either (R26). */
const OUR_NAMES: Partial<Record<ToolKind, readonly string[]>> = {
  read: ['read_file'],
  edit: ['write_file', 'edit_file'],
  execute: ['run_command'],
};

export type Rule =
  | { readonly kind: 'allow' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'deny'; readonly reason: string };

/** Whether a person must decide about a call. The strictest rule wins (R21). */
export function ruleFor(call: ToldCall, { tools, permissions }: Pick<Assignment, 'tools' | 'permissions'>): Rule {
  if (isRequestForDecision(call)) return { kind: 'allow' };
  const kind = kindOf(call);
  const names = [toolOf(call), kind, ...(OUR_NAMES[kind] ?? [])];
  if (tools?.deny?.some(name => names.includes(name)) === true)
    return { kind: 'deny', reason: `The plan denies ${toolOf(call)}.` };
  if (tools?.allow !== undefined && !tools.allow.some(name => names.includes(name)))
    return { kind: 'deny', reason: `The plan does not allow ${toolOf(call)}.` };
  if (kind === 'switch_mode') return { kind: 'deny', reason: 'The mode of the agent is set by Signalbox.' };
  return needsPerson(kind, permissions) ? { kind: 'ask' } : { kind: 'allow' };
}

export function needsPerson(kind: ToolKind, permissions: Assignment['permissions']): boolean {
  switch (kind) {
    case 'read':
    case 'search':
    case 'think':
      return false;
    case 'edit':
    case 'delete':
    case 'move':
      return permissions === 'gated';
    case 'execute':
    case 'fetch':
    case 'switch_mode':
    case 'other':
      return true;
  }
}

/** Whether a tool of this kind changes something when it runs. */
export function changes(kind: ToolKind): boolean {
  return kind === 'edit' || kind === 'delete' || kind === 'move' || kind === 'execute';
}

/** Whether a tool of this kind may change files once it is allowed: nobody knows what another kind does. */
export function mayChange(call: ToldCall): boolean {
  const kind = kindOf(call);
  return changes(kind) || (kind === 'other' && !isRequestForDecision(call));
}

export function decisionKindOf(kind: ToolKind): DecisionKind {
  switch (kind) {
    case 'execute':
      return 'command_exec';
    case 'edit':
    case 'delete':
    case 'move':
      return 'file_edit';
    default:
      return 'external_api';
  }
}

const MAX_WHY = 4_000;

/** Everything that the agent sent about a call. */
export function proposalOf(
  call: ToldCall,
  options: readonly PermissionOption[],
  context: {
    readonly row: Pick<AgentRow, 'id' | 'title'>;
    readonly installed: Pick<InstalledAgent, 'version'>;
    readonly why: string;
  },
): Json {
  const kind = kindOf(call);
  const text = (call.content ?? []).flatMap(part => {
    const inner = part.content as { readonly text?: unknown } | undefined;
    return part.type === 'content' && typeof inner?.text === 'string' ? [inner.text] : [];
  });
  const diffs = diffsOf(call);
  return plainData({
    tool: toolOf(call),
    ...(call.title != null && { title: call.title }),
    kind,
    input: inputOf(call),
    ...(!hasInput(call) && {
      missing: `${context.row.title} did not send the arguments of this call: only its title, paths and differences are known.`,
    }),
    ...(call.locations != null && call.locations.length > 0 && { locations: call.locations }),
    ...(diffs.length > 0 && { diffs }),
    ...(text.length > 0 && { text: text.join('\n') }),
    options: options.map(({ optionId, name, kind: what }) => ({ id: optionId, label: name, kind: what })),
    agent: { id: context.row.id, title: context.row.title, version: context.installed.version },
    risk: kind === 'execute' ? 'high' : 'medium',
    effects: changes(kind) ? 'files' : 'external',
    why: cutAtWord(context.why, MAX_WHY),
  });
}

/** The effect of a person's answer on a call. Anything that does not clearly allow it denies it. */
export type Permission =
  | {
      readonly kind: 'allow';
      readonly option: string;
      readonly approval: Resolution['resolutionType'] | 'not-needed';
      /** The same tool needs no further question in this session. */
      readonly always: boolean;
    }
  | {
      readonly kind: 'deny';
      /** Absent if the agent offers no way to deny once. */
      readonly option?: string;
      readonly approval: Resolution['resolutionType'] | 'not-needed';
      /** For the record. */
      readonly reason: string;
      /** For the agent: it cannot be told with the answer itself. */
      readonly words?: string;
      /** The arguments that the person wants instead. */
      readonly instead?: JsonObject;
    };

export function permissionOf(
  { resolutionType, rationale, chosenOptionId, modifiedArgs, alwaysApprove }: Resolution,
  call: ToldCall,
  options: readonly PermissionOption[],
): Permission {
  const shown = call.title ?? toolOf(call);
  const said = rationale.trim() === '' ? '' : ` ${rationale.trim()}`;
  switch (resolutionType) {
    case 'approve':
      return allowed(options, resolutionType, alwaysApprove === true);
    case 'modify': {
      if (modifiedArgs === undefined)
        return denied(options, resolutionType, `A person wanted other arguments and gave none.${said}`);
      const wanted = JSON.stringify(modifiedArgs);
      return {
        ...denied(
          options,
          resolutionType,
          `A person changed the arguments to ${wanted}. The agent's protocol cannot carry changed arguments, so the call was rejected and the agent was asked to make it with these.${said}`,
        ),
        words: `A person did not approve the call "${shown}" as it was. Make the same call again with exactly these arguments instead: ${wanted}${said}`,
        instead: modifiedArgs,
      };
    }
    case 'reject': {
      const reason = `A person denied this call.${said}`;
      const words = `A person denied the call "${shown}". Do not try it again in another way.${said}`;
      return { ...denied(options, resolutionType, reason), ...(said !== '' && { words }) };
    }
    case 'choose_option': {
      const chosen = options.find(({ optionId }) => optionId === chosenOptionId);
      if (chosen === undefined)
        return denied(options, resolutionType, `A person chose an option that this call does not have.${said}`);
      const option = chosen.optionId;
      if (chosen.kind === 'allow_once' || chosen.kind === 'allow_always')
        return { kind: 'allow', option, approval: resolutionType, always: chosen.kind === 'allow_always' };
      const words = `A person answered the call "${shown}" with "${chosen.name}".${said}`;
      return {
        ...{ kind: 'deny', option, approval: resolutionType, reason: `A person chose "${chosen.name}".${said}` },
        ...(said !== '' && { words }),
      };
    }
  }
}

/** Only once: an agent that may do it always would not ask again. */
export function allowed(
  options: readonly PermissionOption[],
  approval: Permission['approval'],
  always = false,
): Permission {
  const option = options.find(({ kind }) => kind === 'allow_once')?.optionId;
  if (option !== undefined) return { kind: 'allow', option, approval, always };
  return denied(options, approval, 'It was approved, but the agent offers no way to allow it once.');
}

export function denied(
  options: readonly PermissionOption[],
  approval: Permission['approval'],
  reason: string,
): Extract<Permission, { kind: 'deny' }> {
  const option = options.find(({ kind }) => kind === 'reject_once')?.optionId;
  return { kind: 'deny', approval, reason, ...(option !== undefined && { option }) };
}
