import { type GuidedTools, guidedSchemas, type StepAnswer } from '@signalbox/app/guided';
import { failure, ok } from '@signalbox/model';

/** A workflow of two steps that is walked by plain tokens; tests put other answers in place of these. */
export function scriptedGuided(changes: Partial<GuidedTools> = {}): GuidedTools {
  return {
    list: async () => ok(listed),
    inspect: async ({ workflowId, mode }) =>
      workflowId === workflow.workflowId
        ? ok(guidedSchemas.inspect.answer.parse({ ...inspected, ...(mode === 'metadata' && { steps: undefined }) }))
        : { ok: false, error: unknown(workflowId) },
    start: async ({ workflowId }) =>
      workflowId === workflow.workflowId ? ok(at(0)) : { ok: false, error: unknown(workflowId) },
    continue: async ({ stateToken, ackToken }) => {
      const step = Number(/^st\.(\d)$/.exec(stateToken ?? '')?.[1] ?? 9);
      if (step > 2) return { ok: false, error: foreign };
      return ok(at(ackToken === undefined ? step : step + 1));
    },
    checkpoint: async () => ok(guidedSchemas.checkpoint.answer.parse({ ...place(0), checkpointNodeId: NODE })),
    resume: async () => ok(guidedSchemas.resume.answer.parse({ candidates: [candidate], warnings: [] })),
    ...changes,
  };
}

export const RUN = '01890000-0000-7000-8000-000000000001';
const NODE = '01890000-0000-7000-8000-000000000002';
const SESSION = '01890000-0000-7000-8000-000000000003';

const workflow = { workflowId: 'test.two_steps', name: 'Two steps', workflowHash: `sha256:${'ab'.repeat(32)}` };
const steps = [
  { stepId: 'look', title: 'Look around' },
  { stepId: 'tell', title: 'Tell what you saw' },
];

const listed = guidedSchemas.list.answer.parse({
  workflows: [
    {
      ...workflow,
      description: 'Looks, then tells.',
      version: '1.0.0',
      idStatus: 'namespaced',
      sourceKind: 'project',
      isRoutine: false,
    },
  ],
  problems: [{ sourceKind: 'project', sourceRef: 'notes.json', code: 'not_a_workflow', message: 'It has no steps.' }],
  omittedProblems: 0,
  nextCall: { tool: 'inspect_workflow', arguments: { workflowId: workflow.workflowId } },
});

const inspected = {
  workflow,
  description: 'Looks, then tells.',
  version: '1.0.0',
  idStatus: 'namespaced',
  sourceKind: 'project',
  preconditions: ['There is something to look at.'],
  clarificationPrompts: ['Where shall I look?'],
  recommendations: { autonomy: 'guided' },
  capabilities: { required: [], preferred: ['web_browsing'], disabled: [] },
  references: [],
  steps: steps.map(step => ({ ...step, kind: 'authored', loops: [] })),
  warnings: [],
  nextCall: { tool: 'start_workflow', arguments: { workflowId: workflow.workflowId } },
};

function place(step: number) {
  const pending = steps[step];
  const stateToken = `st.${step}`;
  return {
    workflow,
    sessionId: SESSION,
    runId: RUN,
    nodeId: NODE,
    stateToken,
    isComplete: pending === undefined,
    pending:
      pending === undefined
        ? null
        : {
            ...pending,
            stepInstanceKey: pending.stepId,
            prompt: `Prompt of ${pending.stepId}.`,
            provenance: { source: 'authored' },
          },
    nextIntent: pending === undefined ? 'complete' : 'perform_pending_then_continue',
    nextCall:
      pending === undefined
        ? null
        : {
            tool: 'continue_workflow',
            arguments: { stateToken, ackToken: `ack.${step}`, output: { notesMarkdown: '<notes>' } },
          },
    preferences: { autonomy: 'guided', riskPolicy: 'conservative' },
    gaps: [],
    omittedGaps: 0,
    warnings: [],
  };
}

function at(step: number): StepAnswer {
  const tokens = step < steps.length ? { ackToken: `ack.${step}`, checkpointToken: `chk.${step}` } : {};
  return guidedSchemas.continue.answer.parse({ kind: 'ok', ...place(step), ...tokens, blockers: [] });
}

/** The first step, refused: what was handed in lacks something. */
export const blocked: StepAnswer = guidedSchemas.continue.answer.parse({
  kind: 'blocked',
  ...place(0),
  nextIntent: 'rehydrate_only',
  nextCall: { tool: 'continue_workflow', arguments: { stateToken: 'st.0' } },
  blockers: [
    {
      code: 'MISSING_REQUIRED_OUTPUT',
      pointer: { kind: 'output_contract', contractRef: 'wr.contracts.loop_control' },
      message: 'There is no loop control artifact.',
      suggestedFix: 'Hand in one with a decision.',
    },
  ],
});

const candidate = {
  workflow,
  sessionId: SESSION,
  runId: RUN,
  nodeId: NODE,
  stateToken: 'st.1',
  status: 'in_progress',
  pendingStep: steps[1],
  whyMatched: ['matched_branch'],
  snippet: 'I looked around.',
  nextCall: { tool: 'continue_workflow', arguments: { stateToken: 'st.1' } },
};

const foreign = failure('TOKEN_UNKNOWN_NODE', {
  message: 'The stateToken names a place that is not here.',
  suggestion: 'Find the session again with resume_session.',
});

function unknown(workflowId: string) {
  return failure('workflow/unknown', {
    message: `There is no workflow ${JSON.stringify(workflowId)}.`,
    suggestion: 'List the workflows and use an id from there.',
  });
}
