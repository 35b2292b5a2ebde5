import { nodeHasher } from '@signalbox/journal';
import {
  type ApprovalId,
  type ArtifactId,
  type ArtifactKind,
  canonicalJson,
  createIdSource,
  digestHex,
  type EventId,
  type JsonObject,
  type NodeId,
  type RunEvent,
  type RunId,
  runEvent,
  type ToolId,
  timestampOf,
} from '@signalbox/model';
import { fakeClock, seededRng } from '@signalbox/testkit';
import { snapshotPath } from '../run-journal/run-journal-event.ts';

/** Events of the story that happen, and are appended, at once. */
export interface Beat {
  readonly summary: string;
  readonly events: readonly RunEvent[];
  /** Texts that the events refer to. */
  readonly snapshots: readonly string[];
}

export interface Story {
  readonly runId: RunId;
  readonly brief: Beat;
  readonly failingTest: Beat;
  readonly approval: Beat;
  readonly repair: Beat;
}

type EventFields<E> = E extends RunEvent ? Omit<E, 'v' | 'id' | 'runId' | 'seq' | 'ts'> : never;

/**
 * An invented run: an agent fixes a function, and a person approves the change. Its clock and ids are made up as well, so that everybody
 * who plays it gets the same bytes and the same head.
 */
export function tellStory(): Story {
  const clock = fakeClock(Date.UTC(2026, 0, 5, 9));
  const ids = createIdSource(clock, seededRng(1));
  const runId = ids.mint<RunId>();
  const nodeId = ids.mint<NodeId>();
  const [tests, edit] = [ids.mint<ToolId>(), ids.mint<ToolId>()];
  const approvalId = ids.mint<ApprovalId>();
  let seq = 0;

  const happened = (fields: EventFields<RunEvent>): RunEvent => {
    clock.advance(1_500);
    return runEvent.parse({ v: 1, id: ids.mint<EventId>(), runId, seq: seq++, ts: timestampOf(clock), ...fields });
  };
  const created = (kind: ArtifactKind, name: string, snapshot: string): RunEvent =>
    happened({
      type: 'artifact.created',
      nodeId,
      artifact: {
        id: ids.mint<ArtifactId>(),
        runId,
        nodeId,
        kind,
        name,
        path: snapshotPath(digestHex(nodeHasher(snapshot))),
        createdAt: timestampOf(clock),
      },
    });
  const change = { id: edit, name: 'edit_file', args: { file: 'src/parse-date.ts', find: '% 4', put: 'isLeapYear' } };

  const prompt = snapshotOf({ prompt: 'The test of parse-date fails on 29 February. Find out why and mend it.' });
  const log = snapshotOf({ log: ['parse-date.test.ts', '  1900-02-29 is no date: expected an error'] });
  return {
    runId,
    brief: {
      summary: 'an agent gets its brief',
      snapshots: [prompt],
      events: [
        happened({ type: 'run.patch', patch: { status: 'running', updatedAt: timestampOf(clock) } }),
        happened({ type: 'run.phase', phase: 'EXECUTE' }),
        happened({ type: 'node.patch', nodeId, patch: { label: 'Mender', status: 'running' } }),
        created('prompt', 'brief', prompt),
      ],
    },
    failingTest: {
      summary: 'it runs a test, which fails',
      snapshots: [log],
      events: [
        happened({ type: 'tool.proposed', nodeId, tool: { id: tests, name: 'run_tests', args: {} } }),
        happened({ type: 'tool.started', nodeId, toolId: tests }),
        happened({ type: 'tool.completed', nodeId, toolId: tests, result: { ok: true, output: { testsFailed: 1 } } }),
        created('log', 'test log', log),
      ],
    },
    approval: {
      summary: 'a person approves its change',
      snapshots: [],
      events: [
        happened({ type: 'approval.requested', nodeId, approvalId, tool: change }),
        happened({ type: 'approval.resolved', approvalId, resolution: { status: 'approved' } }),
      ],
    },
    repair: {
      summary: 'it makes the change, and the run is done',
      snapshots: [],
      events: [
        happened({ type: 'tool.started', nodeId, toolId: edit }),
        happened({ type: 'tool.completed', nodeId, toolId: edit, result: { ok: true } }),
        happened({ type: 'run.phase', phase: 'DONE' }),
        happened({ type: 'run.patch', patch: { status: 'completed', updatedAt: timestampOf(clock) } }),
      ],
    },
  };
}

function snapshotOf(value: JsonObject): string {
  return canonicalJson({ v: 1, ...value });
}
