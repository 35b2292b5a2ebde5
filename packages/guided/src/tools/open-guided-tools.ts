import { nodeHasher } from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  type IdSource,
  ok,
  type Result,
  type Rng,
  type SessionId,
} from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type DedupeKey,
  type DomainEvent,
  loosenedBy,
  nextAttemptId,
  openWorkflowLibrary,
  type Place,
  type Preferences,
  planCheckpoint,
  projectRunDags,
  type RecordedAdvance,
  recordedAdvance,
  recordedCheckpoint,
  recordedWarnings,
  requireRecordedAdvance,
  type WorkflowPlace,
} from '@signalbox/workflow';
import type * as z from 'zod';
import type { GuidedPorts } from '../ports.ts';
import { asTokenError, contradiction, invalidCall, onlyThePerson, unfitInput } from '../sessions/guided-failures.ts';
import { openSessionFiles, type SessionView, type Tokens } from '../sessions/session-files.ts';
import type { SessionStoresOptions } from '../sessions/session-stores.ts';
import { decideAdvance } from './advance-decision.ts';
import { driftWarnings, inspectWorkflow, isIdOf, listWorkflows, pinWarnings } from './catalog.ts';
import { type GuidedTools, guidedSchemas, type Starter } from './guided-tools.ts';
import { placeAnswer, situationAt } from './place-answer.ts';
import { historyAt, historyAtStart } from './recorded-attempt.ts';
import { rehydrate } from './rehydrate.ts';
import { resumeCandidates } from './resume-candidates.ts';
import { decideStart, type StartName, startNameOf } from './start-decision.ts';
import { placeOfCheckpointToken, placeOfTokens } from './token-places.ts';
import type { StepAnswer, Warning } from './tool-answers.ts';
import type { CheckpointInput, ContinueInput, StartInput } from './tool-inputs.ts';
import { unfilledCheckpoint } from './unfilled-template.ts';
import { observationsOf, readWorkspace } from './workspace.ts';

export interface GuidedToolsOptions extends SessionStoresOptions {
  readonly ports: Pick<GuidedPorts, 'openBlobs' | 'openSecrets'>;
  /** Where to look for workflows besides the bundled ones, in order of precedence. */
  readonly directories: readonly WorkflowPlace[];
  readonly machine: { readonly ids: IdSource; readonly rng: Rng };
  /** The preferences of runs whose person set none. */
  readonly preferences: Preferences;
  /** The environment whose secrets are not recorded; defaults to that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether a directory named by a caller may be read; defaults to any. */
  readonly mayLook?: ((directory: string) => boolean) | undefined;
}

type Answered<T> = Result<T, ErrorEnvelope>;

/** Guided workflows on the files of a data directory. Any number of processes may have it open. */
export function openGuidedTools(options: GuidedToolsOptions): GuidedTools {
  const { dataDirectory, ports, directories, machine, preferences, mayLook, disk, locks } = options;
  const { filter } = ports.openSecrets({
    dataDirectory,
    env: options.env ?? process.env,
    readOnly: disk !== undefined,
  });
  const { reader, writer } = openSessionFiles({ dataDirectory, ports, rng: machine.rng, disk, locks });
  const library = openWorkflowLibrary({ hasher: nodeHasher, places: directories });
  const baselines = { global: preferences };
  const driftOf = (compiled: CompiledWorkflowSnapshotV1, pinned: Digest) => driftWarnings(library, compiled, pinned);

  async function start(input: StartInput, by: Starter = 'agent'): Promise<Answered<StepAnswer>> {
    const tokens = reader.tokens();
    if (!tokens.ok) return tokens;
    const name = startNameOf(input.startKey, () => machine.ids.mint<SessionId>());
    if (input.startKey !== undefined) {
      const view = reader.view(name.sessionId);
      if (!view.ok) return view;
      const before = startedAnswer(tokens.value, view.value, name, input);
      if (before !== undefined) return before;
    }
    const loosened = by === 'person' ? [] : loosenedBy(preferences, input.preferences ?? {});
    if (loosened.length > 0) return err(onlyThePerson('start_workflow', loosened, preferences));
    const found = await library.find(input.workflowId);
    if (!found.ok) return found;
    const workspace = input.workspacePath === undefined ? undefined : await readWorkspace(input.workspacePath, mayLook);
    if (input.workspacePath !== undefined && workspace === undefined) return err(noWorkspace());
    const observed = workspace === undefined ? [] : filter.data(observationsOf(workspace));
    // Decided first, so that a refused start leaves no session behind.
    const decided = decideStart(name, found.value, input, observed, preferences);
    if (!decided.ok) return decided;
    const written = await writer.write<never>(name.sessionId, view => (view.length > 0 ? ok(undefined) : decided));
    if (!written.ok) return err(asTokenError(written.error));
    const answer = startedAnswer(tokens.value, written.value, name, input);
    return answer ?? err(contradiction(name.sessionId, 'the run that was started is not recorded'));
  }

  /** The answer to an earlier start, from its record; undefined if there was none. */
  function startedAnswer(
    tokens: Tokens,
    view: SessionView,
    { sessionId }: StartName,
    input: StartInput,
  ): Answered<StepAnswer> | undefined {
    const events = view.events();
    const root = events.find(event => event.kind === 'node_created' && event.data.parentNodeId === null);
    if (root?.kind !== 'node_created') return undefined;
    const place: Place = { sessionId, ...root.scope };
    const situation = situationAt(reader, historyAtStart(events, root), place, baselines);
    if (!situation.ok) return situation;
    const { compiled } = situation.value;
    if (input.startKey !== undefined && !isIdOf(input.workflowId, compiled)) {
      return err(otherStart(input.startKey, compiled.workflowId));
    }
    return placeAnswer(reader, tokens, situation.value, {
      kind: 'step',
      told: pinWarnings(input.workflowId, compiled),
    });
  }

  /** A change of the workflow's source that this run was not told of yet. It is recorded, so that a repeated answer is the same. */
  async function newDrift(events: readonly DomainEvent[], { runId }: Place): Promise<readonly Warning[]> {
    const run = projectRunDags(events).get(runId)?.workflow;
    const isTold = events.some(
      event =>
        event.kind === 'decision_trace_appended' &&
        event.scope.runId === runId &&
        recordedWarnings(event.data.entries).some(({ code }) => code === 'pinned_drift'),
    );
    return run === undefined || isTold ? [] : driftWarnings(library, run, run.workflowHash, 'peek');
  }

  async function advance(tokens: Tokens, input: ContinueInput): Promise<Answered<StepAnswer>> {
    const named = placeOfTokens(reader, tokens, input);
    if (!named.ok) return named;
    const { place, ack } = named.value;
    if (ack === undefined) return err(noAck());
    const { attemptId } = ack;
    const before = recordedAdvance(named.value.view, place, attemptId);
    if (!before.ok) return before;
    if (before.value !== undefined) return recordedAnswer(tokens, named.value.view, place, before.value);
    const drift = await newDrift(named.value.view.events(), place);
    const written = await writer.write<ErrorEnvelope>(place.sessionId, view => {
      const recorded = recordedAdvance(view, place, attemptId);
      if (!recorded.ok || recorded.value !== undefined) return recorded.ok ? ok(undefined) : recorded;
      const events = view.events();
      if (nextAttemptId(events, place) !== attemptId) {
        return err(
          contradiction(
            place.sessionId,
            `attempt ${attemptId} was offered at node ${place.nodeId} and is not recorded`,
          ),
        );
      }
      const situation = situationAt(reader, events, place, baselines);
      return situation.ok ? decideAdvance(reader, situation.value, attemptId, input, baselines, drift) : situation;
    });
    if (!written.ok) return err(asTokenError(written.error));
    const recorded = requireRecordedAdvance(written.value, place, attemptId);
    return recorded.ok ? recordedAnswer(tokens, written.value, place, recorded.value) : recorded;
  }

  /** The answer to an attempt, the first time and every time, from the history as of then. */
  function recordedAnswer(
    tokens: Tokens,
    view: SessionView,
    from: Place,
    recorded: RecordedAdvance,
  ): Answered<StepAnswer> {
    const isBlocked = recorded.kind === 'blocked';
    const history = historyAt(view.events(), isBlocked ? recorded.advance : recorded.edge);
    const place = isBlocked ? from : { ...from, nodeId: recorded.node.scope.nodeId };
    const situation = situationAt(reader, history, place, baselines);
    if (!situation.ok) return situation;
    const { outcome } = recorded.advance.data;
    return placeAnswer(
      reader,
      tokens,
      situation.value,
      outcome.kind === 'blocked' ? { kind: 'blocked', blockers: outcome.blockers.blockers } : { kind: 'advanced' },
    );
  }

  async function checkpoint(input: CheckpointInput) {
    const unfilled = unfilledCheckpoint(input);
    if (unfilled !== undefined) return err(unfilled);
    const tokens = reader.tokens();
    if (!tokens.ok) return tokens;
    const named = placeOfCheckpointToken(reader, tokens.value, input);
    if (!named.ok) return named;
    const { place, node, checkpoint: token } = named.value;
    const written = await writer.write<ErrorEnvelope>(place.sessionId, view => {
      const recorded = recordedCheckpoint(view, place, token.attemptId);
      if (!recorded.ok || recorded.value !== undefined) return recorded.ok ? ok(undefined) : recorded;
      const { attemptId } = token;
      const planned = planCheckpoint(node, { attemptId, notesMarkdown: input.notesMarkdown });
      return planned.ok ? ok({ planned: planned.value }) : planned;
    });
    if (!written.ok) return err(asTokenError(written.error));
    const made = recordedCheckpoint(written.value, place, token.attemptId);
    if (!made.ok) return made;
    const checkpointNodeId = made.value?.scope.nodeId;
    const edge = written.value.find(
      `edge_created:${place.sessionId}:${place.runId}:${place.nodeId}->${checkpointNodeId}:checkpoint` as DedupeKey,
    );
    if (checkpointNodeId === undefined || edge?.kind !== 'edge_created') {
      return err(contradiction(place.sessionId, 'the checkpoint that was made is not recorded'));
    }
    const at = { ...place, nodeId: checkpointNodeId };
    const situation = situationAt(reader, historyAt(written.value.events(), edge), at, baselines);
    if (!situation.ok) return situation;
    const answer = placeAnswer(reader, tokens.value, situation.value, { kind: 'step' });
    if (!answer.ok) return answer;
    const { kind: _, blockers: __, ...rest } = answer.value;
    return ok({ checkpointNodeId, ...rest });
  }

  /** Removes secrets from an agent's input before it is recorded. Tokens are ours, and a path must stay findable. */
  const cleaned = <T extends object>(input: T): T => ({ ...filter.data(input), ...named(input) });

  return {
    list: checked('list', async input => ok(await listWorkflows(library, input))),
    inspect: checked('inspect', input => inspectWorkflow(library, input)),
    start: checked('start', (input, by?: Starter) => start(cleaned(input), by)),
    continue: checked('continue', async given => {
      const input = cleaned(given);
      const tokens = reader.tokens();
      if (!tokens.ok) return tokens;
      const intent = input.intent ?? (input.ackToken === undefined ? 'rehydrate' : 'advance');
      if (intent === 'advance' && input.outputIds !== undefined) return err(outputsOnAdvance());
      return intent === 'advance'
        ? advance(tokens.value, input)
        : rehydrate(reader, tokens.value, input, baselines, driftOf);
    }),
    checkpoint: checked('checkpoint', input => checkpoint(cleaned(input))),
    resume: checked('resume', async input => {
      const tokens = reader.tokens();
      if (!tokens.ok) return tokens;
      const workspace =
        input.workspacePath === undefined ? undefined : await readWorkspace(input.workspacePath, mayLook);
      const query = {
        ...input,
        gitBranch: filter.data(input.gitBranch ?? workspace?.branch),
        gitHeadSha: input.gitHeadSha ?? workspace?.headSha,
      };
      return resumeCandidates(reader, tokens.value, query, baselines, driftOf);
    }),
  };
}

const NAMED: readonly string[] = ['stateToken', 'ackToken', 'checkpointToken', 'workspacePath'];

function named(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([name]) => NAMED.includes(name)));
}

/** A function of the port that validates its input by its schema. */
function checked<K extends keyof GuidedTools, I, T, Rest extends readonly unknown[]>(
  name: K,
  work: (input: z.infer<(typeof guidedSchemas)[K]['input']>, ...rest: Rest) => Promise<Answered<T>>,
): (input: I, ...rest: Rest) => Promise<Answered<T>> {
  return async (input, ...rest) => {
    const { tool, input: schema } = guidedSchemas[name];
    const parsed = schema.safeParse(input);
    if (!parsed.success) return err(unfitInput(tool, parsed.error));
    return work(parsed.data as z.infer<(typeof guidedSchemas)[K]['input']>, ...rest);
  };
}

function noAck() {
  return invalidCall(
    'continue_workflow: intent is "advance", but ackToken is missing.',
    'Send the ackToken of the last answer; or send intent "rehydrate" with the stateToken to get a fresh one.',
    { field: 'ackToken' },
  );
}

function outputsOnAdvance() {
  return invalidCall(
    'continue_workflow: outputIds was sent with an advance, which shows no outputs.',
    'Send it with intent "rehydrate", the stateToken, and no ackToken.',
    { field: 'outputIds' },
  );
}

function noWorkspace() {
  return invalidCall(
    'start_workflow: workspacePath is not the absolute path of a directory that this server may read.',
    'Send the absolute path of your working directory, or leave it out.',
    { field: 'workspacePath' },
  );
}

function otherStart(startKey: string, workflowId: string) {
  return failure('run/duplicate-key', {
    message: `The startKey "${startKey}" was already used to start ${workflowId}.`,
    suggestion: 'Use another startKey for another run.',
    details: { workflowId },
  });
}
