import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import {
  type ArtifactId,
  type DiffMetadata,
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  ok,
  type Result,
  type RunId,
  utf8Bytes,
} from '@signalbox/model';
import { type Blobs, everyRun, type NodeKey, type RunReader, type RunRecord } from '@signalbox/runs';
import type { AgentTools } from '../agents/agent-tools.ts';
import { ownTools } from '../agents/own-tools.ts';
import { artifactToolForm } from '../artifacts/artifact-tool.ts';
import type { Machine } from '../machine.ts';
import { effectivePrompt } from './effective-prompt.ts';
import { type TurnArtifact, turnArtifacts } from './projections/turn-artifact.ts';
import { type AuthoredPrompt, type EffectivePrompt, fullPrompt, promptBlocks } from './projections/turn-prompt.ts';
import { sentBlocks, sentPrompts, sentText } from './sent-prompts.ts';
import { lastBeginning, turnAssignment } from './turn-assignment.ts';
import { turnChanges } from './turn-changes.ts';
import { turnOf, turnsOf } from './turn-facts.ts';

/** The artifacts derived from agent turns: none of them is stored, all are derived on request. */
export interface Turns {
  /** Of one run, or of one of its nodes, newest first. Stored diffs are not among them. */
  list(run: RunId, node?: string | undefined): Promise<readonly TurnArtifact[]>;
  find(artifact: string): Promise<TurnArtifact | undefined>;
  read(artifact: TurnArtifact): Promise<Result<ReadTurnArtifact, ErrorEnvelope>>;
}

export interface ReadTurnArtifact extends TurnArtifact {
  readonly content: Uint8Array;
  readonly bytes: number;
  readonly digest: Digest;
  readonly diff?: DiffMetadata;
}

export interface TurnPorts {
  readonly dataDirectory: string;
  readonly machine: Pick<Machine, 'clock' | 'ids' | 'timers'>;
  readonly reader: RunReader;
  readonly blobs: Pick<Blobs, 'get'>;
  /** The tools that agents are offered here; without them there are no prompts. */
  readonly tools?: Pick<AgentTools, 'atHand' | 'commands'> | undefined;
  /** Removes secrets from a text. */
  readonly clean?: ((text: string) => string) | undefined;
}

interface MadePrompt {
  readonly effective: EffectivePrompt;
  readonly authored: AuthoredPrompt;
}

/** How many are cached by id, so that they are found without a search. */
const REMEMBERED = 5_000;

export function createTurns({ dataDirectory, machine, reader, blobs, tools, clean = text => text }: TurnPorts): Turns {
  const known = new Map<string, TurnArtifact>();

  function remember(artifacts: readonly TurnArtifact[]): void {
    for (const artifact of artifacts) known.set(artifact.id, artifact);
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED) return;
      known.delete(oldest);
    }
  }

  /** Ids reveal nothing about their origin: one that was not listed here must be searched for. */
  async function search(id: ArtifactId): Promise<TurnArtifact | undefined> {
    for await (const run of everyRun(reader)) {
      for (const task of await reader.tasks(run.id, { effects: ['undoable'] })) {
        if (!turnArtifacts(run.id, task).some(one => one.id === id)) continue;
        return (await turnOf(reader, run.id, task)).find(one => one.id === id);
      }
      // Yields, so that other requests are answered.
      await new Promise<void>(resolve => setImmediate(resolve));
    }
    return undefined;
  }

  /** The prompt, or why it cannot be rebuilt. */
  async function promptOf(record: RunRecord, { run, task }: TurnArtifact): Promise<MadePrompt | string> {
    const row = await reader.task(run, task);
    const assignment = row === undefined ? undefined : await turnAssignment(reader, record, row);
    if (assignment === undefined) return 'The prompt of this turn is no longer known: its frame was collected.';
    if (tools === undefined) return 'The prompt of this turn cannot be rendered here: there are no agents.';
    const own = ownTools(assignment.tools?.own ?? [], undefined, await tools.commands());
    const offered = [...(await tools.atHand()), artifactToolForm, ...own];
    const effective = await effectivePrompt(machine, assignment, offered, await lastBeginning(reader, run, task));
    if (effective === undefined) return 'No model was asked in this turn: the schema of its answer cannot be used.';
    return { effective, authored: assignment };
  }

  async function contentOf(
    record: RunRecord,
    artifact: TurnArtifact,
  ): Promise<{ readonly text: string; readonly diff?: DiffMetadata }> {
    if (artifact.name === 'diff.patch') {
      const folder = path.join(dataDirectory, 'checkpoints', artifact.run);
      const { patch, diff } = await turnChanges(blobs, folder, artifact.task);
      return { text: patch, diff };
    }
    const sent = await sentPrompts(reader, artifact.run, artifact.task);
    if (sent.length > 0) {
      if (artifact.name === 'prompt.full.txt') return { text: clean(sentText(sent)) };
      return { text: `${JSON.stringify(cleaned(sentBlocks(sent), clean), null, 2)}\n` };
    }
    const made = await promptOf(record, artifact);
    if (artifact.name === 'prompt.full.txt') {
      return { text: clean(typeof made === 'string' ? `[${made}]\n` : fullPrompt(made.effective)) };
    }
    const blocks = typeof made === 'string' ? { unknown: made } : promptBlocks(made.effective, made.authored);
    return { text: `${JSON.stringify(cleaned(blocks, clean), null, 2)}\n` };
  }

  return {
    async list(run, node) {
      const tasks = await reader.tasks(run, {
        effects: ['undoable'],
        ...(node !== undefined && { node: node as NodeKey }),
      });
      const listed = await turnsOf(reader, run, tasks.toReversed());
      remember(listed);
      return listed;
    },
    async find(given) {
      const seen = known.get(given);
      if (seen !== undefined) return seen;
      if (!DERIVED.test(given)) return undefined;
      const found = await search(given as ArtifactId);
      if (found !== undefined) remember([found]);
      return found;
    },
    async read(artifact) {
      const record = await reader.run(artifact.run);
      // It was cached, and its run was collected since.
      if (record === undefined) return err(gone(artifact));
      const { text, diff } = await contentOf(record, artifact);
      const content = utf8Bytes(text.toWellFormed());
      return ok({
        ...artifact,
        content,
        bytes: content.length,
        digest: nodeHasher(content),
        ...(diff !== undefined && { diff }),
      });
    },
  };
}

/** Before it becomes one text, in which a secret may have another form. */
function cleaned(value: Json, clean: (text: string) => string): Json {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(one => cleaned(one, clean));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cleaned(one as Json, clean)]));
}

/** A derived id. */
const DERIVED = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function gone({ id, run }: TurnArtifact): ErrorEnvelope<'artifact/unknown'> {
  return failure('artifact/unknown', {
    message: `Artifact ${id} is gone with its run ${run}.`,
    suggestion: 'Keep runs that you need with "signalbox keep RUN".',
    details: { artifact: id, run },
  });
}
