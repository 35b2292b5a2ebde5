import type { FleetDesk } from '@signalbox/app/fleet';
import {
  type AgentId,
  agentId,
  approvalId,
  controlMode,
  defined,
  type ErrorEnvelope,
  err,
  failure,
  json,
  jsonObject,
  ok,
  type Result,
  text,
} from '@signalbox/model';
import * as z from 'zod';
import {
  agentShown,
  artifactLine,
  brakesShown,
  decisionShown,
  fleetAgentSchema,
  fleetDecisionSchema,
  fleetKnowledgeSchema,
  fleetStateSchema,
  fleetTrustSchema,
} from './fleet-answers.ts';
import { type Answer, adds, harms, looks, moves, type OperatorTool, type ToolDesk, tool } from './tool.ts';

const agentField = { agent_id: agentId.describe('The id of an agent, as listed by fleet.show.') };
const AGENT = '01890000-0000-7000-8000-00000000dead';
const reason = text.min(1).max(1024).describe('The reason; logged with who asked.');

/** Agents as things of their own: how they are, what they ask, and how to stop them. */
export const fleetTools: readonly OperatorTool[] = [
  tool({
    name: 'fleet.show',
    title: 'Show the fleet',
    description: `Shows the agents of the project with their standing, the decisions that wait for a person (most urgent first), the engaged brakes with the time each agent took to fall silent, the control mode and the tick.
Call it first, and again after every action: it is everything that a person sees at a glance.`,
    annotations: looks,
    template: {},
    input: z.strictObject({}),
    answer: fleetStateSchema,
    call: desk => withFleet(desk, async fleet => ok(stateOf(fleet))),
  }),
  tool({
    name: 'fleet.control_agent',
    title: 'Pause, resume, restart or kill an agent',
    description: `Acts on one agent. pause stops it until it is resumed (an agent that cannot pause is ended, and its session saved). restart starts it again with its current brief, which also applies changes of the brief that are pending.
kill ends it for good: its open decisions become orphans and stay in the queue, marked. Only kill when a person told you to.
Returns the agent as it is right after the order; call fleet.show to see it obey.`,
    annotations: harms,
    template: { agent_id: AGENT, action: 'pause', reason: '<why>' },
    input: z.strictObject({ ...agentField, action: z.enum(['pause', 'resume', 'restart', 'kill']), reason }),
    answer: fleetAgentSchema,
    call: (desk, { agent_id, action, reason: why }) =>
      withFleet(desk, async fleet => {
        const { by } = desk;
        const done = await {
          pause: () => fleet.pause(agent_id, why, by),
          resume: () => fleet.resume(agent_id, by),
          restart: () => fleet.restart(agent_id, by),
          kill: () => fleet.kill(agent_id, why, by),
        }[action]();
        return done.ok ? ok(agentShown(done.value)) : done;
      }),
  }),
  tool({
    name: 'fleet.resolve_decision',
    title: 'Answer a decision of an agent',
    description: `Answers a decision that an agent of the fleet raised: approve or reject a tool call, approve it with other arguments (modify), or choose one of its options.
Read fleet.show first and answer what is shown there; only a person decides, or you if a person told you to. A decision with requires_rationale is refused without one.
It is answered once: a second answer returns the first outcome. The agent's trust follows from the answer.`,
    annotations: harms,
    template: { approval_id: '<id of a decision>', answer: 'approve', rationale: '<why>' },
    input: z.strictObject({
      approval_id: approvalId.describe('The id of the decision, as listed by fleet.show.'),
      answer: z.enum(['approve', 'reject', 'modify', 'choose_option']),
      option_id: text.min(1).max(256).optional().describe('With choose_option: the id of the option.'),
      arguments: jsonObject.optional().describe('With modify: the arguments to use instead.'),
      rationale: text.max(4096).optional().describe('The reason, shown to the agent.'),
    }),
    answer: fleetDecisionSchema,
    call: (desk, { approval_id, answer, option_id, arguments: modifiedArgs, rationale = '' }) =>
      withFleet(desk, async fleet => {
        const resolution = {
          resolutionType: answer,
          rationale,
          actionKind: answer === 'choose_option' ? ('review' as const) : ('update' as const),
          ...defined({ chosenOptionId: option_id, modifiedArgs }),
        };
        const done = await fleet.resolve(approval_id, { resolution }, desk.by);
        if (!done.ok) return done;
        const after = fleet.decision(approval_id);
        return after === undefined ? err(unknownDecision(approval_id)) : ok(decisionShown(after));
      }),
  }),
  tool({
    name: 'fleet.brake',
    title: 'Brake agents',
    description: `Stops all agents, one, or those of a workstream, at once, by pausing or killing them. Their decisions are suspended, and their timeouts stand still, until the brake is released.
Call it when agents must not continue, whatever they are doing. Leave out agent_id and workstream to stop all of them.
Returns the fleet; silent_after_ms becomes a number once an agent is silent.`,
    annotations: harms,
    template: { reason: '<why>', behavior: 'pause' },
    input: z.strictObject({
      reason,
      behavior: z.enum(['pause', 'kill']).optional().describe('Defaults to pause.'),
      agent_id: agentId.optional().describe('Stops only this agent.'),
      workstream: text.min(1).max(256).optional().describe('Stops only the agents of this workstream.'),
      release_after_ms: z.int().positive().optional().describe('Releases it by itself; otherwise a person does.'),
    }),
    answer: fleetStateSchema,
    call: (desk, { reason: why, behavior = 'pause', agent_id, workstream, release_after_ms }) =>
      withFleet(desk, async fleet => {
        if (agent_id !== undefined && workstream !== undefined) return err(twoScopes());
        const done = await fleet.brake(
          {
            scope: scopeOf(agent_id, workstream),
            reason: why,
            behavior,
            ...(release_after_ms !== undefined && {
              releaseCondition: { type: 'timer', releaseAfterMs: release_after_ms },
            }),
          },
          desk.by,
        );
        return done.ok ? ok(stateOf(fleet)) : done;
      }),
  }),
  tool({
    name: 'fleet.release_brake',
    title: 'Release a brake',
    description: `Releases one brake, or all of them. Agents that the brake paused resume; those that it killed wait to be started; suspended decisions wait again.
Only release a brake that a person engaged when a person told you to. Without brake_id, every engaged brake is released.`,
    annotations: moves,
    template: {},
    input: z.strictObject({
      brake_id: text.min(1).max(64).optional().describe('The id of a brake, as listed by fleet.show.'),
    }),
    answer: fleetStateSchema,
    call: (desk, { brake_id }) =>
      withFleet(desk, async fleet => {
        const done = await fleet.releaseBrake(brake_id, desk.by);
        return done.ok ? ok(stateOf(fleet)) : done;
      }),
  }),
  tool({
    name: 'fleet.set_mode',
    title: 'Change the control mode',
    description: `Changes how much agents may do without a person. orchestrator: everything but reading and searching is asked, and no timeout answers. adaptive: trusted agents do small things alone. ecosystem: agents act alone except for what is always escalated.
It applies at once to new decisions; those that wait keep waiting. Only loosen it when a person told you to.`,
    annotations: moves,
    template: { mode: 'orchestrator' },
    input: z.strictObject({ mode: controlMode }),
    answer: fleetStateSchema,
    call: (desk, { mode }) =>
      withFleet(desk, async fleet => {
        const done = await fleet.setMode(mode, desk.by);
        return done.ok ? ok(stateOf(fleet)) : done;
      }),
  }),
  tool({
    name: 'fleet.advance_ticks',
    title: 'Advance logical time',
    description: `Advances the ticks of a server whose ticks are manual: timeouts fire and trust decays as if that time had passed. A server whose ticks follow the clock refuses with fleet/ticks-automatic.
Calling it twice advances twice.`,
    annotations: adds,
    template: { by: 10 },
    input: z.strictObject({ by: z.int().positive().max(100_000).optional().describe('How many; defaults to 1.') }),
    answer: fleetStateSchema,
    call: (desk, { by = 1 }) =>
      withFleet(desk, async fleet => {
        const done = await fleet.advanceTicks(by);
        return done.ok ? ok(stateOf(fleet)) : done;
      }),
  }),
  tool({
    name: 'fleet.trust',
    title: 'Show what an agent earned',
    description: `Shows the trust of an agent, from 10 to 100, and its last changes with their causes. With prove, the score is computed again from the whole log and compared, change by change.
Trust decides what an agent may do alone in adaptive mode. Never tell an agent its score: it must not know it.`,
    annotations: looks,
    template: { agent_id: AGENT, prove: true },
    input: z.strictObject({
      ...agentField,
      prove: z.boolean().optional().describe('Computes the score again from the log.'),
    }),
    answer: fleetTrustSchema,
    call: (desk, { agent_id, prove = false }) =>
      withFleet(desk, async fleet => {
        const trust = fleet.trust(agent_id);
        if (!trust.ok) return trust;
        const proof = prove ? fleet.proveTrust(agent_id) : undefined;
        if (proof !== undefined && !proof.ok) return proof;
        const { score, hypotheticalScore, profile, samples, history } = trust.value;
        return ok({
          ...{ agent_id, score, profile, samples },
          hypothetical_score: hypotheticalScore,
          recent_changes: history.slice(-CHANGES_SHOWN).map(change => json.parse(change)),
          proof: json.parse(proof?.value ?? null),
        });
      }),
  }),
  tool({
    name: 'fleet.knowledge',
    title: 'Show what agents made, and where it conflicts',
    description: `Shows the artifacts of agents, of all workstreams or of one, and the coherence issues: two agents that write one file, decisions that contradict each other, work that is done twice, dependencies that are violated. The score is 100 less the penalties of open issues.
Review an artifact with fleet.review_artifact.`,
    annotations: looks,
    template: {},
    input: z.strictObject({ workstream: text.min(1).max(256).optional().describe('Only its artifacts.') }),
    answer: fleetKnowledgeSchema,
    call: (desk, { workstream }) =>
      withFleet(desk, async fleet => {
        const { score, issues } = fleet.coherence();
        return ok({
          coherence_score: score,
          issues: issues.map(issue => json.parse(issue)),
          artifacts: fleet.artifacts(workstream).map(artifactLine),
        });
      }),
  }),
  tool({
    name: 'fleet.review_artifact',
    title: 'Approve or reject an artifact',
    description: `Approves or rejects an artifact of an agent; the trust of the agent that made it follows. Send the version that was looked at: if the agent wrote another one meanwhile, the review is refused with fleet/version-conflict.
Only a person judges work, or you if a person told you to.`,
    annotations: harms,
    template: { artifact_id: '<id of an artifact>', status: 'approved', version: 1 },
    input: z.strictObject({
      artifact_id: text.min(1).max(64).describe('The id of an artifact, as listed by fleet.knowledge.'),
      status: z.enum(['approved', 'rejected']),
      version: z.int().positive().describe('The version that was looked at.'),
    }),
    answer: fleetKnowledgeSchema.shape.artifacts.element,
    call: (desk, { artifact_id, status, version }) =>
      withFleet(desk, async fleet => {
        const done = await fleet.reviewArtifact(artifact_id, { status, expectedVersion: version }, desk.by);
        return done.ok ? ok(artifactLine(done.value)) : done;
      }),
  }),
];

const CHANGES_SHOWN = 20;

async function withFleet(
  { fleet }: ToolDesk,
  act: (fleet: FleetDesk) => Promise<Result<object, ErrorEnvelope>>,
): Answer {
  if (fleet === undefined) return err(noFleet());
  const done = await act(fleet);
  return done.ok ? ok({ value: done.value }) : done;
}

function stateOf(fleet: FleetDesk): z.infer<typeof fleetStateSchema> {
  return {
    control_mode: fleet.mode(),
    tick: fleet.ticks().current,
    agents: fleet.agents().map(agentShown),
    decisions: fleet.queue().flatMap(item => (item.from === 'agent' ? [decisionShown(item)] : [])),
    brakes: brakesShown(fleet.brakes()),
  };
}

function scopeOf(agent: AgentId | undefined, workstream: string | undefined) {
  if (agent !== undefined) return { type: 'agent', agentId: agent } as const;
  return workstream === undefined ? ({ type: 'all' } as const) : ({ type: 'workstream', workstream } as const);
}

function noFleet(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: 'This server has no fleet.',
    suggestion: 'Start one with "signalbox serve".',
  });
}

function unknownDecision(given: string): ErrorEnvelope {
  return failure('decision/unknown', {
    message: `There is no decision ${given} of an agent.`,
    suggestion: 'List the open ones with fleet.show.',
  });
}

function twoScopes(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: 'agent_id and workstream were both given.',
    suggestion: 'Leave one of them out.',
  });
}
