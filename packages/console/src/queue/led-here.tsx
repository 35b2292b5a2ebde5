import type { RunSnapshot, TreeNode, WireDecision } from '@signalbox/model';
import { useQuery } from '@tanstack/react-query';
import { transcriptOf } from '../inspector/transcript.ts';
import { readStream } from '../run/read-stream.ts';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { nodeStanding } from '../story/words.ts';

interface LedHereProps {
  readonly decision: WireDecision;
  readonly snapshot: RunSnapshot | undefined;
}

const TURNS_SHOWN = 3;
const TOOLS_SHOWN = 6;
const EVENTS_SHOWN = 8;

/** What led to a question: where in the plan it is asked, and what was said and done before. */
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
    <section aria-label="What led here" className="ledhere">
      <h3 className="eyebrow">What led here</h3>
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
        <blockquote key={index}>{turn}</blockquote>
      ))}
      {done.length > 0 && (
        <ol className="moves">
          {done.map(({ call, tool, input, status }) => (
            <li key={call}>
              <Lamp signal={status === 'succeeded' ? 'done' : 'failed'} />
              <code>{tool}</code>
              <span className="truncate text-muted">{JSON.stringify(input)}</span>
            </li>
          ))}
        </ol>
      )}
      {moves.length > 0 && (
        <ol className="moves">
          {moves.map(({ seq, node, to }) => (
            <li key={seq}>
              <Lamp signal={to === 'failed' ? 'failed' : 'done'} />
              {labels.get(String(node)) ?? String(node)}
              <span className="text-muted">{nodeStanding(to === 'failed' ? 'failed' : 'succeeded').word}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
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
