import type { Json, Timestamp } from '@signalbox/model';
import type { Decision, FrameTrigger, Task, TransitionView } from '@signalbox/runs';
import type { NodeFact } from './why-facts.ts';

/** `3 h` ago, in the unit that a person would use. */
export function ago(from: Timestamp, now: Timestamp): string {
  const seconds = Math.max(0, (Date.parse(now) - Date.parse(from)) / 1000);
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} days ago`;
}

/** `in 3 h`, for a future time. */
export function until(due: Timestamp, now: Timestamp): string {
  return due <= now ? 'it is past' : `in ${ago(now, due).replace(/ ago$/, '')}`;
}

export function nodeName(id: string, node: NodeFact | undefined): string {
  const named = node?.data.label ?? node?.data.name;
  const kind = node?.kind ?? 'node';
  // Sixteen hex digits are derived from its place, and mean nothing to people.
  const { source } = node ?? {};
  if (typeof named !== 'string' && source !== undefined && /^[0-9a-f]{16}$/.test(id)) {
    return `${kind} at ${source.file.split(/[\\/]/).at(-1)}:${source.line}`;
  }
  return typeof named === 'string' ? `${kind} '${named}'` : `${kind} '${id}'`;
}

const LONG = 80;

export function valueText(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= LONG ? text : `${text.slice(0, LONG)}… (${text.length} characters)`;
}

export function changeText({ key, old, new: next, handler, node, trigger }: TransitionView): string {
  const who = [
    handler !== undefined && node !== undefined ? `${handler} of '${node}'` : node,
    trigger === undefined ? undefined : `because of ${trigger}`,
  ].filter(part => part !== undefined);
  return `'${key}' changed from ${valueText(old)} to ${valueText(next)}${who.length === 0 ? '' : ` (${who.join(', ')})`}`;
}

export function triggerText({ kind, node, keys, detail }: FrameTrigger): string {
  const parts = [
    node === undefined ? undefined : `of '${node}'`,
    keys === undefined || keys.length === 0 ? undefined : `(${keys.join(', ')})`,
    detail,
  ].filter(part => part !== undefined);
  return [kind, ...parts].join(' ');
}

/** The question to a person. */
export function questionOf({ proposal, kind }: Decision): string {
  const asked = typeof proposal === 'object' && proposal !== null && !Array.isArray(proposal) ? proposal : {};
  const { prompt, tool, why } = asked as { readonly prompt?: Json; readonly tool?: Json; readonly why?: Json };
  if (typeof prompt === 'string') return firstLine(prompt);
  if (typeof tool === 'string')
    return `may ${tool} be used?${typeof why === 'string' && why !== '' ? ` ${firstLine(why)}` : ''}`;
  return `a ${kind}`;
}

export function errorText(error: Task['lastError']): string {
  return error === undefined ? 'an error that was not kept' : `${error.code}: ${firstLine(error.message)}`;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
