import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSessionFiles } from '@signalbox/guided';
import { nodeHasher } from '@signalbox/journal';
import { canonicalJson, deriveId, type EventId, type JsonObject, type SessionId } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import {
  type AttemptId,
  type Autonomy,
  compiledWorkflowSnapshotV1,
  type DomainEvent,
  nextAttemptId,
  planStart,
  type ReasonCode,
} from '@signalbox/workflow';
import { dataDirectory, eventsOf, value } from '../../../guided/test/support/guided-walk.ts';
import { guidedPorts } from '../../src/guided/guided-home.ts';
import type { GuidedTools, StepAnswer } from '../../src/guided/index.ts';
import { openTools } from '../support/open-tools.ts';

/** The events of a session in which a reason came up. */
export type Produced = Promise<readonly DomainEvent[]>;

const step = (id: string, more: JsonObject = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...more });
const NOTES = { notesMarkdown: 'Did it.' } as const;

/** A session of a workflow of these steps. */
async function started(steps: readonly JsonObject[], autonomy: Autonomy, more: JsonObject = {}) {
  const directory = dataDirectory();
  const workflows = path.join(directory, 'w');
  mkdirSync(workflows);
  const workflow = { id: 'project.x', name: 'X', description: '', version: '1.0.0', steps, ...more };
  writeFileSync(path.join(workflows, 'x.json'), JSON.stringify(workflow));
  const tools = openTools(directory, { directories: [{ kind: 'project', directory: workflows }] });
  const start = value(await tools.start({ workflowId: 'project.x', preferences: { autonomy } }, 'person'));
  return { directory, tools, start };
}

async function handedIn(tools: GuidedTools, at: StepAnswer, output: JsonObject, more: JsonObject = {}) {
  const { stateToken, ackToken = '' } = at;
  return value(await tools.continue({ stateToken, ackToken, output, ...more } as never));
}

/** One attempt at the only step of a workflow. */
const attempted =
  (asks: JsonObject, output: JsonObject) =>
  async (autonomy: Autonomy): Produced => {
    const { directory, tools, start } = await started([step('a', asks), step('b')], autonomy);
    await handedIn(tools, start, output);
    return eventsOf(directory, start.sessionId);
  };

const needing = (reason: string) =>
  attempted(
    { nonAssumableChoices: ['scope_boundary'] },
    { ...NOTES, needsFromUser: [{ reason, summary: 'This and that.', choice: 'scope_boundary' }] },
  );

const REQUIRES = {
  features: [{ id: 'wr.features.capabilities', config: { required: ['web_browsing'] } }],
} as const;
const LOOP = {
  id: 'l',
  type: 'loop',
  title: 'l',
  loop: {
    type: 'while',
    maxIterations: 1,
    conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
  },
  body: [step('a', { outputContract: { contractRef: 'wr.contracts.loop_control' } })],
} as const;

/** How each reason comes up, in a mode that stops or in the one that does not. */
export const reasons: Readonly<Record<ReasonCode, (autonomy: Autonomy) => Produced>> = {
  'user_only_dependency:needs_user_secret_or_token': needing('needs_user_secret_or_token'),
  'user_only_dependency:needs_user_account_access': needing('needs_user_account_access'),
  'user_only_dependency:needs_user_artifact': needing('needs_user_artifact'),
  'user_only_dependency:needs_user_choice': needing('needs_user_choice'),
  'user_only_dependency:needs_user_approval': attempted({ requireConfirmation: { kind: 'human_approval' } }, NOTES),
  'user_only_dependency:needs_user_environment_action': needing('needs_user_environment_action'),
  'contract_violation:missing_required_output': attempted({}, {}),
  'contract_violation:invalid_required_output': attempted(
    { outputContract: { contractRef: 'wr.contracts.gate_verdict' } },
    { artifacts: [{ kind: 'wr.gate_verdict', version: 1, verdict: 'perhaps' }] },
  ),
  'capability_missing:required_capability_unavailable': async autonomy => {
    const { directory, tools, start } = await started([step('a')], autonomy, REQUIRES);
    const seen = {
      capability: 'web_browsing',
      result: 'failure',
      failureCode: 'tool_missing',
      evidence: 'No such tool.',
    };
    await handedIn(tools, start, { artifacts: [{ kind: 'wr.capability_observation', ...seen }] });
    return eventsOf(directory, start.sessionId);
  },
  'capability_missing:required_capability_unknown': async autonomy => {
    const { directory, tools, start } = await started([step('a')], 'full_auto_never_stop', REQUIRES);
    const unprobed = await handedIn(tools, start, {});
    await handedIn(tools, unprobed, NOTES, { preferences: { autonomy } });
    return eventsOf(directory, start.sessionId);
  },
  'unexpected:invariant_violation': async autonomy => {
    const { directory, tools, start } = await started([LOOP], autonomy);
    await handedIn(tools, start, { artifacts: [{ kind: 'wr.loop_control', decision: 'continue' }] });
    return eventsOf(directory, start.sessionId);
  },
  'unexpected:storage_corruption_detected': async autonomy => {
    const { directory, tools, start } = await started([step('a')], autonomy);
    const { reader, writer } = openSessionFiles({ dataDirectory: directory, ports: guidedPorts, rng: seededRng(1) });
    const compiled = compiledWorkflowSnapshotV1.parse(value(reader.workflow(start.workflow.workflowHash)));
    const sessionId = deriveId<SessionId>('test', autonomy);
    const planned = value(
      planStart(nodeHasher, [], {
        sessionId,
        attemptId: deriveId<EventId>('test', 'attempt') as string as AttemptId,
        workflow: {
          workflowId: compiled.workflowId,
          workflowHash: start.workflow.workflowHash,
          workflowSourceKind: 'project',
          workflowSourceRef: 'x.json',
        },
        state: {
          kind: 'running',
          completed: { kind: 'set', values: [] },
          loopStack: [],
          pending: { kind: 'some', step: { stepId: 'not-there', loopPath: [] } },
        },
      }),
    );
    const workflows = [canonicalJson(compiled as never)];
    const written = value(await writer.write<never>(sessionId, () => ({ ok: true, value: { planned, workflows } })));
    const { runId, nodeId } = planned;
    const place = { sessionId, runId, nodeId };
    const tokens = value(reader.tokens());
    const attemptId = nextAttemptId(written.events(), place);
    await tools.continue({
      stateToken: tokens.mint({ tokenKind: 'state', ...place, workflowHash: start.workflow.workflowHash }),
      ackToken: tokens.mint({ tokenKind: 'ack', ...place, attemptId }),
      output: NOTES,
    });
    return eventsOf(directory, sessionId);
  },
};
