import type { Json, RunSnapshot, TreeNode, WireDecision } from '@signalbox/model';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { words } from '../decisions/words.ts';
import { transcriptOf } from '../inspector/transcript.ts';
import { readStream } from '../run/read-stream.ts';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { nodeStanding } from '../story/words.ts';
import { callWords, valueWords } from '../transcript/call-words.ts';

const Prose = lazyPart(() => import('../shell/prose.tsx').then(({ Prose: one }) => ({ default: one })));

interface LedHereProps {
  readonly decision: WireDecision;
  readonly snapshot: RunSnapshot | undefined;
}

const TURNS_SHOWN = 3;
const TOOLS_SHOWN = 6;
const EVENTS_SHOWN = 8;

/** The background of a question: its place in the plan, and what was said and done before. */
export function LedHere({ decision: { runId: run, decision }, snapshot }: LedHereProps) {
  const client = useClient();
  const tasks = useRead(['asking-tasks', run, decision.proposalHash], () => client.tasks(run));
  const task = tasks.data?.tasks.findLast(
    ({ node, iteration }) => node === decision.node && iteration === decision.iteration,
  );
  const chunks = useQuery({
    queryKey: ['asking-stream', run, task?.id, decision.proposalHash],
    queryFn: () => readStream(client, run, task?.id ?? ''),
    enabled: task !== undefined,
  });
  const from = Math.max(0, (snapshot?.record.nextSeq ?? 0) - 100);
  const events = useRead(
    ['asking-events', run, decision.proposalHash],
    () => client.events(run, { from, limit: 100 }),
    {
      isEnabled: snapshot !== undefined,
    },
  );
  const path = pathOf(snapshot?.tree ?? [], decision.node);
  const labels = new Map((snapshot?.tree ?? []).map(({ id, label }) => [id, label]));
  const transcript = transcriptOf(chunks.data ?? []);
  const said = transcript.turns.filter(turn => turn !== '').slice(-TURNS_SHOWN);
  const done = transcript.tools.filter(({ status }) => status !== undefined).slice(-TOOLS_SHOWN);
  const moves = (events.data?.events ?? [])
    .map(({ event }) => event)
    .filter(({ type, to }) => type === 'node.status' && (to === 'succeeded' || to === 'failed'))
    .slice(-EVENTS_SHOWN);
  return (
    <section aria-label={words.context} className="ledhere">
      <h3 className="eyebrow">{words.context}</h3>
      {path.length > 0 && (
        <p className="trail">
          {path.map(({ id, label, kind }) => (
            <span key={id}>
              {label} {kind !== label && <span className="kind">{kind}</span>}
            </span>
          ))}
        </p>
      )}
      {said.map((turn, index) => (
        <blockquote key={index}>
          <Suspense fallback={turn}>
            <Prose text={turn} />
          </Suspense>
        </blockquote>
      ))}
      {done.length > 0 && (
        <ol className="moves">
          {done.map(({ call, tool, input, title, status }) => {
            const { does, target } = callWords(tool, input, title);
            return (
              <li key={call}>
                <Lamp signal={status === 'succeeded' ? 'done' : 'failed'} />
                <span className="truncate">
                  {does} {target !== undefined && <code>{target}</code>}
                </span>
              </li>
            );
          })}
        </ol>
      )}
      {moves.length > 0 && (
        <ol className="moves checks" aria-label={words.checks}>
          {moves.map(({ seq, node, to }) => {
            const ended = tasks.data?.tasks.findLast(one => one.node === node && one.endedAt !== undefined);
            const said = ended?.lastError?.message ?? outputWords(ended?.result);
            return (
              <li key={seq}>
                <Lamp signal={to === 'failed' ? 'failed' : 'done'} />
                <span className="shrink-0">{labels.get(String(node)) ?? String(node)}</span>
                {said === undefined ? (
                  <span className="text-muted">{nodeStanding(to === 'failed' ? 'failed' : 'succeeded').word}</span>
                ) : (
                  <span className="text-muted check-output">{said}</span>
                )}
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}

const MOST_OUTPUT = 400;

/** A result on a few lines; undefined if there is none. */
function outputWords(result: Json | undefined): string | undefined {
  if (result === undefined || result === null || result === '') return undefined;
  const text = valueWords(result);
  return text.length > MOST_OUTPUT ? `${text.slice(0, MOST_OUTPUT)}…` : text;
}

/** From the root to the node. */
function pathOf(tree: readonly TreeNode[], id: string): readonly TreeNode[] {
  const byId = new Map(tree.map(node => [node.id, node]));
  const path: TreeNode[] = [];
  for (let node = byId.get(id); node !== undefined; ) {
    path.unshift(node);
    node = node.parent === undefined ? undefined : byId.get(node.parent);
  }
  return path;
}
