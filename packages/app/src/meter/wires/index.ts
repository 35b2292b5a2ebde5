import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import type { Wire } from './wire.ts';

export type WireName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

export const wires: Readonly<Record<WireName, Wire>> = {
  anthropic,
  'openai-responses': openaiResponses,
  'openai-chat': openaiChat,
  google,
};

/** The format of a request that calls a model; undefined for any other: lists of models, token counts. */
export function wireOfCall(method: string, path: string): { readonly wire: Wire; readonly model?: string } | undefined {
  if (method !== 'POST') return undefined;
  for (const wire of Object.values(wires)) {
    const call = wire.call(path);
    if (call !== undefined) return { wire, ...call };
  }
  return undefined;
}
