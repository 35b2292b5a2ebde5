import type { Client } from '@signalbox/client';
import { defined, type Json, type JsonObject, type Resolution, type WireDecision } from '@signalbox/model';
import { useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { toast } from '../shell/toasts.tsx';
import { type CommandState, useCommand } from '../shell/use-command.ts';
import { headlineOf } from '../story/question.ts';
import { words } from './words.ts';

/** An answer to a decision. */
export type Saying =
  /** `always`: the same tool needs no further question in the agent's session. */
  | { readonly kind: 'approve'; readonly value?: Json; readonly always?: true }
  | { readonly kind: 'deny' }
  | { readonly kind: 'choose'; readonly option: string }
  | { readonly kind: 'modify'; readonly args: JsonObject };

export interface Answering extends Omit<CommandState, 'send'> {
  readonly why: string;
  setWhy(why: string): void;
  say(saying: Saying): Promise<boolean>;
}

const gone: ReadonlySet<string> = new Set(['decision/answered', 'decision/withdrawn', 'decision/unknown']);

/** Answers a decision as it is shown here: the answer carries the hash of the proposal. */
export function useAnswer(decision: WireDecision): Answering {
  const client = useClient();
  const [why, setWhy] = useState('');
  const { isBusy, error, send } = useCommand();
  const say = (saying: Saying) =>
    send(async () => {
      const done = await answer(client, decision, saying, why);
      // An answered question leaves the page, and its error with it.
      if (!done.ok && gone.has(done.error.code)) toast(words.tooLate(headlineOf(decision), done.error.message));
      return done;
    });
  return { isBusy, error, why, setWhy, say };
}

export function answer(client: Client, { approvalId, decision }: WireDecision, saying: Saying, why: string) {
  const { kind, proposalHash } = decision;
  const isReview = kind === 'human' || kind === 'choice' || kind === 'confirmation' || kind === 'review';
  const rest = { rationale: why, actionKind: isReview ? 'review' : 'update' } as const;
  return client.resolve(approvalId, { resolution: { ...resolutionOf(saying), ...rest }, proposalHash });
}

function resolutionOf(
  saying: Saying,
): Pick<Resolution, 'resolutionType' | 'value' | 'chosenOptionId' | 'modifiedArgs' | 'alwaysApprove'> {
  switch (saying.kind) {
    case 'approve':
      return { resolutionType: 'approve', ...defined({ value: saying.value, alwaysApprove: saying.always }) };
    case 'deny':
      return { resolutionType: 'reject' };
    case 'choose':
      return { resolutionType: 'choose_option', chosenOptionId: saying.option };
    case 'modify':
      return { resolutionType: 'modify', modifiedArgs: saying.args };
  }
}
