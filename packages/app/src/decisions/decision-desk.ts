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
  type Resolution,
  type RunReader,
} from '@signalbox/runs';
import { draftEvent } from '../host/run-events.ts';
import type { Answer } from '../host/run-host.ts';
import type { Machine } from '../machine.ts';
import type { Secrets } from '../secrets/open-secrets.ts';
import { misfit, unknownDecision, withdrawn } from './answer-fit.ts';

/** Where something waits for a person (R7): asked once, answered once, delivered until its node has taken it. */
export interface DecisionDesk {
  /** The person's answer, or undefined while there is none. */
  ask(question: Question): Promise<Resolution | undefined>;
  answer(id: ApprovalId, answer: Answer, by: string): Promise<Result<AnsweredDecision, ErrorEnvelope>>;
  /** What was answered is done. */
  deliver(run: RunId, id: ApprovalId): Promise<void>;
  /** Takes back what nobody needs to answer any more: of one node, or of a whole run. */
  withdraw(run: RunId, node?: NodeKey): Promise<void>;
}

interface Question {
  readonly run: RunId;
  readonly node: NodeKey;
  readonly iteration: number;
  /** What of the node is meant: the same after a crash, another when the node is run anew. */
  readonly call: string;
  readonly kind: DecisionKind;
  readonly proposal: Json;
}

interface AnsweredDecision {
  readonly run: RunId;
  readonly decision: Decision;
}

export interface DeskPorts {
  readonly commit: Commit;
  readonly reader: RunReader;
  readonly machine: Pick<Machine, 'clock' | 'ids'>;
  readonly secrets?: Pick<Secrets, 'filter' | 'mac'> | undefined;
}

export function createDecisionDesk({ commit, reader, machine, secrets }: DeskPorts): DecisionDesk {
  const now = () => timestampOf(machine.clock);

  async function ask(question: Question): Promise<Resolution | undefined> {
    const { run, node, iteration, call, kind, proposal } = question;
    const id = decisionIdOf(run, node, iteration, call);
    const found = await reader.decision(id);
    const proposalHash = hashOf(proposal);
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

  /**
   * What an answer is about, whatever of it can be shown. A proposal with a secret has a keyed hash: a plain one would let
   * anyone try values.
   */
  function hashOf(proposal: Json): Digest {
    if (secrets === undefined || secrets.filter.data(proposal) === proposal) return digestOf(nodeHasher, proposal);
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
    // Somebody answered in between: whoever asks again sees it.
    if (!written.ok && !written.error.code.startsWith('decision/')) throw new DecisionFault(written.error);
  }

  return {
    ask,
    deliver,
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
      const answered = await reader.decision(id);
      if (answered === undefined) throw new Bug(`decision ${id} is gone after it was answered`);
      return ok(answered);
    },
    async withdraw(run, node) {
      const open = await reader.decisions({ run, status: ['open'] });
      for (const { decision } of open) {
        if (node !== undefined && decision.node !== node) continue;
        const event = draftEvent(machine, 'decision.withdrawn', { decision: decision.id });
        await write(run, { kind: 'withdraw', id: decision.id, at: now() }, event);
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
