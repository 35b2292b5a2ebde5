import {
  errorEnvelope,
  type Json,
  type RunId,
  type WireDecision,
  type WireFrame,
  type WireStoredEvent,
  type WireTask,
  type WireTransition,
} from '@signalbox/model';
import { createAccess, createHttpApp } from '@signalbox/server';
import { memoryUsers } from './memory-users.ts';
import { type ScriptedHost, scriptedHost } from './scripted-host.ts';

export const TOKEN = 'a-token-of-this-test';
/** Of somebody with a token of their own. */
export const ADAS_TOKEN = 'a-token-of-ada';
/** Of an agent. */
export const AGENT_TOKEN = 'a-token-of-an-agent';
/** The id of no run. */
export const UNKNOWN = '01890000-0000-7000-8000-00000000dead';
export const auth = { host: '127.0.0.1:4280', authorization: `Bearer ${TOKEN}` };

export interface Asker {
  readonly host: ScriptedHost;
  /** Errors thrown while answering a request. */
  readonly faults: readonly unknown[];
  ask(method: string, path: string, options?: AskOptions): Promise<Response>;
}

interface AskOptions {
  readonly headers?: Record<string, string>;
  readonly body?: Json | undefined;
}

/** The server without a socket, over runs that do what a test says. */
export function httpAsker(): Asker {
  const host = scriptedHost();
  const faults: unknown[] = [];
  const app = createHttpApp({
    host,
    access: createAccess(TOKEN, () => 4280, memoryUsers({ [ADAS_TOKEN]: 'ada' })),
    onFault: thrown => faults.push(thrown),
  });
  return {
    host,
    faults,
    ask: async (method, path, { headers = {}, body } = {}) =>
      app.request(path, {
        method,
        headers: { ...auth, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  };
}

/** All fields that answers can have; tests look at those that theirs has. */
interface Answered {
  readonly id: RunId;
  readonly next: Json;
  readonly runs: readonly { readonly record: { readonly name: string } }[];
  readonly events: readonly WireStoredEvent[];
  readonly frames: readonly WireFrame[];
  readonly tree: readonly Json[];
  readonly transitions: readonly WireTransition[];
  readonly tasks: readonly WireTask[];
  readonly approvals: readonly WireDecision[];
}

export async function json(answer: Response | Promise<Response>): Promise<Answered> {
  return (await (await answer).json()) as Answered;
}

/** The status and the code of an answer that must be an envelope. */
export async function code(answer: Response | Promise<Response>): Promise<readonly [number, string]> {
  const { status } = await answer;
  return [status, errorEnvelope.parse(await json(answer)).code];
}
