import { type Disk, type Journal, nodeHasher, openContentStore, openJournal } from '@signalbox/journal';
import {
  canonicalJson,
  type Digest,
  digestOf,
  type ErrorEnvelope,
  type Json,
  type Result,
  type SessionId,
} from '@signalbox/model';
import { lossyDisk, memoryLocks } from '@signalbox/testkit';
import type { CompiledWorkflowSnapshotV1 } from '../../src/compile/compiled-workflow.ts';
import { type Attempt, planAdvance } from '../../src/session/advance-plan.ts';
import { nextAttemptId } from '../../src/session/attempts.ts';
import type { DomainEvent, EventOf } from '../../src/session/domain-event.ts';
import type { Place, SessionPlan } from '../../src/session/event-draft.ts';
import { sessionEventSchema } from '../../src/session/event-schema.ts';
import {
  completedSet,
  type EngineState,
  type ExecutionSnapshotFileV1,
  executionSnapshotFileV1,
} from '../../src/session/execution-snapshot.ts';
import { type AttemptId, guidedId } from '../../src/session/ids.ts';
import { planStart, type Start } from '../../src/session/start-plan.ts';
import type { StepInstanceKey } from '../../src/session/step-instance-key.ts';

export const SESSION = '01900000-0000-7000-8000-0000000000a1' as SessionId;
export const OTHER_SESSION = '01900000-0000-7000-8000-0000000000b2' as SessionId;

export const attempt = (name: string | number) => guidedId<AttemptId>('test-attempt', name);

/** The smallest workflow that can be pinned. */
export const workflow: CompiledWorkflowSnapshotV1 = {
  schemaVersion: 1,
  workflowId: 'project.bug_hunt',
  name: 'Bug hunt',
  description: 'Finds a bug.',
  version: '1.0.0',
  preconditions: [],
  clarificationPrompts: [],
  metaGuidance: [],
  recommendations: {},
  capabilities: { required: [], preferred: [], disabled: [] },
  features: [],
  contracts: [],
  assessments: [],
  references: [],
  functions: [],
  program: [],
  steps: [],
  conditions: [],
  loops: [],
  compiledWarnings: [],
};
export const workflowHash: Digest = digestOf(nodeHasher, workflow as unknown as Json);

export const pendingAt = (stepId: string, ...done: readonly string[]): EngineState => ({
  kind: 'running',
  completed: completedSet(done as readonly StepInstanceKey[]),
  loopStack: [],
  pending: { kind: 'some', step: { stepId, loopPath: [] } },
});

export function value<T>(result: Result<T, ErrorEnvelope>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

export function errorOf<T>(result: Result<T, ErrorEnvelope>): ErrorEnvelope {
  if (result.ok) throw new Error('was expected to fail');
  return result.error;
}

export interface GuidedSession {
  readonly disk: Disk;
  readonly directory: string;
  readonly journal: Journal<DomainEvent>;
  events(): readonly DomainEvent[];
  append(planned: SessionPlan): Promise<boolean>;
  start(start?: Partial<Start>): Promise<Place>;
  node(place: Place): EventOf<'node_created'>;
  plan(place: Place, made: Partial<Attempt>): SessionPlan & { readonly toNodeId: Place['nodeId'] | undefined };
  /** Takes one attempt, by default the next one that succeeds; answers with where it leads. */
  advance(place: Place, made?: Partial<Attempt>): Promise<Place>;
  snapshot(ref: Digest): ExecutionSnapshotFileV1 | undefined;
  engineStateOf(ref: Digest): EngineState | undefined;
}

/** A guided session in a real journal, on a disk in memory unless one is given. */
export function guidedSession(sessionId: SessionId = SESSION, disk: Disk = memoryDisk()): GuidedSession {
  const snapshots = openContentStore({ disk, hasher: nodeHasher, home: 'home', name: 'snapshots', writer: 'test' });
  const journal = openJournal({
    disk,
    locks: memoryLocks(),
    hasher: nodeHasher,
    schema: sessionEventSchema,
    snapshots,
    home: 'home',
    collection: 'sessions',
    sessionId,
  });
  const session: GuidedSession = {
    disk,
    directory: `home/sessions/${sessionId}`,
    journal,
    events: () => value(journal.read()).events(),
    async append({ snapshots: texts, plan }) {
      value(snapshots.putAll(texts));
      return value(await journal.withLock(witness => journal.append(witness, plan))).isNew;
    },
    async start(start = {}) {
      const planned = value(
        planStart(nodeHasher, session.events(), {
          sessionId,
          attemptId: attempt('start'),
          workflow: {
            workflowId: workflow.workflowId,
            workflowHash,
            workflowSourceKind: 'project',
            workflowSourceRef: 'workflows/bug_hunt.json',
          },
          state: pendingAt('first'),
          ...start,
        }),
      );
      await session.append(planned);
      return { sessionId, runId: planned.runId, nodeId: planned.nodeId };
    },
    node(place) {
      const found = session
        .events()
        .find(event => event.kind === 'node_created' && event.scope.nodeId === place.nodeId);
      if (found?.kind !== 'node_created') throw new Error(`no node ${place.nodeId}`);
      return found;
    },
    plan: (place, made) =>
      value(
        planAdvance(nodeHasher, session.events(), session.node(place), {
          attemptId: nextAttemptId(session.events(), place),
          outcome: { kind: 'advanced', state: pendingAt('second', 'first') },
          ...made,
        }),
      ),
    async advance(place, made = {}) {
      const planned = session.plan(place, made);
      await session.append(planned);
      return { ...place, nodeId: planned.toNodeId ?? place.nodeId };
    },
    snapshot(ref) {
      const text = snapshots.get(ref);
      return text.ok ? executionSnapshotFileV1.parse(JSON.parse(text.value)) : undefined;
    },
    engineStateOf: ref => session.snapshot(ref)?.enginePayload.engineState,
  };
  return session;
}

export function memoryDisk() {
  const disk = lossyDisk();
  disk.makeDirectory('home');
  return disk;
}

/** Everything that a disk holds under a folder, as text. */
export function filesUnder(disk: Disk, folder: string): string {
  return canonicalJson(
    disk.list(folder).map(name => {
      const path = `${folder}/${name}`;
      if (disk.kind(path) === 'directory') return [name, filesUnder(disk, path)];
      const bytes = disk.read(path);
      return [name, typeof bytes === 'object' ? new TextDecoder().decode(bytes) : bytes];
    }),
  );
}
