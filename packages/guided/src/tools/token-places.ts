import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import {
  derivePendingStep,
  type EventOf,
  nodeOfToken,
  type Place,
  projectRunDags,
  samePlace,
  type TokenOf,
  type TokenPayload,
} from '@signalbox/workflow';
import { invalidCall } from '../sessions/guided-failures.ts';
import type { SessionReader, SessionView, Tokens } from '../sessions/session-files.ts';
import type { CheckpointInput, ContinueInput } from './tool-inputs.ts';

export interface TokenPlace {
  readonly place: Place;
  readonly view: SessionView;
  readonly node: EventOf<'node_created'>;
}

/** The place that the tokens of a call name; tokens that do not belong together are refused with the names of their runs. */
export function placeOfTokens(
  reader: SessionReader,
  tokens: Tokens,
  { stateToken, ackToken, workflowId }: Pick<ContinueInput, 'stateToken' | 'ackToken' | 'workflowId'>,
): Result<TokenPlace & { readonly ack: TokenOf<'ack'> | undefined }, ErrorEnvelope> {
  const state = stateToken === undefined ? undefined : tokens.read(stateToken, 'state');
  if (state?.ok === false) return state;
  const ack = ackToken === undefined ? undefined : tokens.read(ackToken, 'ack');
  if (ack?.ok === false) return ack;
  if (state !== undefined && ack !== undefined && !samePlace(state.value, ack.value).ok) {
    return err(
      mixedUp(`the stateToken is of ${whoseIs(reader, state.value)}, the ackToken of ${whoseIs(reader, ack.value)}`),
    );
  }
  const named = state?.value ?? ack?.value;
  if (named === undefined) return err(noToken());
  const found = placeOf(reader, state === undefined ? 'ackToken' : 'stateToken', named, workflowId);
  return found.ok ? ok({ ...found.value, ack: ack?.value }) : found;
}

export function placeOfCheckpointToken(
  reader: SessionReader,
  tokens: Tokens,
  { checkpointToken, workflowId }: Pick<CheckpointInput, 'checkpointToken' | 'workflowId'>,
): Result<TokenPlace & { readonly checkpoint: TokenOf<'checkpoint'> }, ErrorEnvelope> {
  const checkpoint = tokens.read(checkpointToken, 'checkpoint');
  if (!checkpoint.ok) return checkpoint;
  const found = placeOf(reader, 'checkpointToken', checkpoint.value, workflowId);
  return found.ok ? ok({ ...found.value, checkpoint: checkpoint.value }) : found;
}

function placeOf(
  reader: SessionReader,
  field: string,
  token: TokenPayload,
  workflowId: string | undefined,
): Result<TokenPlace, ErrorEnvelope> {
  const { sessionId, runId, nodeId } = token;
  const view = reader.view(sessionId);
  if (!view.ok) return view;
  const events = view.value.events();
  const node = nodeOfToken(events, token);
  if (!node.ok) return node;
  const pinned = projectRunDags(events).get(runId)?.workflow?.workflowId;
  if (workflowId !== undefined && workflowId !== pinned) {
    return err(mixedUp(`the call says workflow ${workflowId}, and the ${field} is of ${whoseIs(reader, token)}`));
  }
  return ok({ place: { sessionId, runId, nodeId }, view: view.value, node: node.value });
}

/** The workflow, run and step of a token, for a message. */
function whoseIs(reader: SessionReader, { sessionId, runId, nodeId }: TokenPayload): string {
  const events = reader.view(sessionId);
  const dag = events.ok ? projectRunDags(events.value.events()).get(runId) : undefined;
  const snapshotRef = dag?.nodes.get(nodeId)?.snapshotRef;
  const state = snapshotRef === undefined ? undefined : reader.state(snapshotRef);
  const step = state?.ok === true ? derivePendingStep(state.value)?.stepId : undefined;
  const at = step === undefined ? '' : ` at step "${step}"`;
  return `workflow ${dag?.workflow?.workflowId ?? 'unknown'}, run ${runId}${at}`;
}

function noToken() {
  return invalidCall(
    'continue_workflow: neither a stateToken nor an ackToken was sent.',
    'To hand in the pending step, send the ackToken of the last answer; to see it again, its stateToken. If you have neither, call resume_session.',
    { field: 'stateToken' },
  );
}

function mixedUp(why: string): ErrorEnvelope<'TOKEN_SCOPE_MISMATCH'> {
  return failure('TOKEN_SCOPE_MISMATCH', {
    message: `The call mixes tokens of two places: ${why}.`,
    suggestion:
      'Send tokens of one answer of the workflow that you mean. To see where it is, call continue_workflow with intent "rehydrate" and only its stateToken.',
  });
}
