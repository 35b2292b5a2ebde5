import { nodeHasher } from '@signalbox/journal';
import {
  type ApprovalId,
  Bug,
  canonicalJson,
  type Digest,
  digestOf,
  type ErrorEnvelope,
  err,
  type Json,
  ok,
  type Resolution,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import {
  type Commit,
  type Decision,
  type DecisionKind,
  decisionIdOf,
  type NodeKey,
  type RunReader,
} from '@signalbox/runs';
import { draftEvent } from '../host/run-events.ts';
import type { Answer } from '../host/run-host.ts';
import type { Machine } from '../machine.ts';
import type { Secrets } from '../secrets/open-secrets.ts';
import { misfit, unknownDecision, withdrawn } from './answer-fit.ts';

/** Questions to people (R7): asked once, answered once, delivered until their node has taken the answer. */
export interface DecisionDesk {
  /** The person's answer; undefined while there is none. */
  ask(question: Question): Promise<Resolution | undefined>;
  answer(id: ApprovalId, answer: Answer, by: string): Promise<Result<AnsweredDecision, ErrorEnvelope>>;
  /** Calls back once a question that waits is answered or taken back. Returns how to stop waiting. */
  onSettled(question: Pick<Question, 'run' | 'node' | 'iteration' | 'call'>, settled: () => void): () => void;
  /** The answer has been used. */
  deliver(run: RunId, id: ApprovalId): Promise<void>;
  /** Withdraws questions that no longer need an answer: of one node, or of a whole run. */
  withdraw(run: RunId, node?: NodeKey, isMeant?: (decision: Decision) => boolean): Promise<void>;
  /** Whether a question was asked and then withdrawn. */
  isWithdrawn(question: Pick<Question, 'run' | 'node' | 'iteration' | 'call'>): Promise<boolean>;
}

interface Question {
  readonly run: RunId;
  readonly node: NodeKey;
  readonly iteration: number;
  /** Identifies the question within the node: stable across crashes, new when the node is restarted. */
  readonly call: string;
  readonly kind: DecisionKind;
  readonly proposal: Json;
  /** Given by whoever knows more of the proposal than may be shown. */
  readonly proposalHash?: Digest | undefined;
}

interface AnsweredDecision {
  readonly run: RunId;
  readonly decision: Decision;
}

export interface DeskPorts {
  readonly commit: Commit;
  readonly reader: RunReader;
  readonly machine: Pick<Machine, 'clock' | 'ids'>;
  readonly secrets?: Pick<Secrets, 'mac'> | undefined;
}

export function createDecisionDesk({ commit, reader, machine, secrets }: DeskPorts): DecisionDesk {
  const now = () => timestampOf(machine.clock);
  /** One process owns the directory, so every answer passes here. */
  const waiting = new Map<ApprovalId, Set<() => void>>();
  const ring = (id: ApprovalId) => {
    const settled = waiting.get(id) ?? [];
    waiting.delete(id);
    for (const tell of settled) tell();
  };

  async function ask(question: Question): Promise<Resolution | undefined> {
    const { run, node, iteration, call, kind, proposal } = question;
    const id = decisionIdOf(run, node, iteration, call);
    const found = await reader.decision(id);
    const proposalHash = question.proposalHash ?? hashOf(proposal);
    if (found === undefined) {
      const decision = { id, node, iteration, call, kind, proposal, proposalHash, askedAt: now() };
      await write(
        run,
        { kind: 'ask', decision },
        draftEvent(machine, 'decision.asked', { decision: id, node, kind, proposalHash }),
      );
      return undefined;
    }
    const { decision } = found;
    if (decision.status === 'answered') {
      if (decision.deliveredAt === undefined) await deliver(run, id);
      return decision.resolution;
    }
    if (decision.status === 'open' && decision.proposalHash !== proposalHash) {
      await write(
        run,
        { kind: 'propose', id, proposal, proposalHash },
        draftEvent(machine, 'decision.proposed', { decision: id, proposalHash }),
      );
    }
    return undefined;
  }

  /** The hash of the full proposal, whatever part of it can be shown. It is keyed: a plain one would allow guessing (R42). */
  function hashOf(proposal: Json): Digest {
    if (secrets === undefined) return digestOf(nodeHasher, proposal);
    return `sha256:${secrets.mac(canonicalJson(proposal))}` as Digest;
  }

  const deliver = (run: RunId, id: ApprovalId) =>
    write(run, { kind: 'deliver', id, at: now() }, draftEvent(machine, 'decision.delivered', { decision: id }));

  async function write(
    run: RunId,
    decision: NonNullable<Parameters<Commit['commit']>[0]['decisions']>[number],
    event: ReturnType<typeof draftEvent>,
  ): Promise<void> {
    const written = await commit.commit({ at: now(), decisions: [decision], events: [event] }, { run, version: 'any' });
    // It was answered in between: the next call returns that answer.
    if (!written.ok && !written.error.code.startsWith('decision/')) throw new DecisionFault(written.error);
  }

  return {
    ask,
    deliver,
    onSettled({ run, node, iteration, call }, settled) {
      const id = decisionIdOf(run, node, iteration, call);
      const others = waiting.get(id) ?? new Set();
      waiting.set(id, others.add(settled));
      return () => {
        others.delete(settled);
        if (others.size === 0 && waiting.get(id) === others) waiting.delete(id);
      };
    },
    async answer(id, { resolution, proposalHash }, by) {
      const found = await reader.decision(id);
      if (found === undefined) return err(unknownDecision(id));
      if (found.decision.status === 'withdrawn') return err(withdrawn(found, await reader.run(found.run)));
      const fault = misfit(found.decision, resolution);
      if (fault !== undefined) return err(fault);
      const { run } = found;
      const at = now();
      const answer = {
        kind: 'answer' as const,
        id,
        resolution,
        by,
        at,
        ...(proposalHash === undefined ? {} : { proposalHash }),
      };
      const event = draftEvent(machine, 'decision.answered', { decision: id, resolution, by });
      const written = await commit.commit({ at, decisions: [answer], events: [event] }, { run, version: 'any' });
      if (!written.ok) return err(written.error);
      ring(id);
      const answered = await reader.decision(id);
      if (answered === undefined) throw new Bug(`decision ${id} is gone after it was answered`);
      return ok(answered);
    },
    async isWithdrawn({ run, node, iteration, call }) {
      const found = await reader.decision(decisionIdOf(run, node, iteration, call));
      return found?.decision.status === 'withdrawn';
    },
    async withdraw(run, node, isMeant = () => true) {
      const open = await reader.decisions({ run, status: ['open'] });
      for (const { decision } of open) {
        if ((node !== undefined && decision.node !== node) || !isMeant(decision)) continue;
        const event = draftEvent(machine, 'decision.withdrawn', { decision: decision.id });
        await write(run, { kind: 'withdraw', id: decision.id, at: now() }, event);
        ring(decision.id);
      }
    },
  };
}

/** A decision could not be written; nothing is known to be asked. */
export class DecisionFault extends Error {
  override readonly name = 'DecisionFault';
  readonly envelope: ErrorEnvelope;

  constructor(envelope: ErrorEnvelope) {
    super(envelope.message);
    this.envelope = envelope;
  }
}
