import { nodeKindFacts, type RunId, type TreeNode } from '@signalbox/model';
import { useMemo, useState } from 'react';
import { useCheckpoints } from '../inspector/call-levers.tsx';
import { tasksThen } from '../inspector/task-then.ts';
import { transcriptOf } from '../inspector/transcript.ts';
import { useStream, useTasks } from '../inspector/use-node-work.ts';
import { spendingOf } from '../run/spending.ts';
import { SpendingWords } from '../run/spending-words.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import type { RunStory } from '../story/run-story.ts';
import { nodeStanding } from '../story/words.ts';
import { ComposeBox } from './compose-box.tsx';
import { TranscriptList } from './transcript-list.tsx';
import { transcriptRows } from './transcript-rows.ts';
import { taskWords, words } from './words.ts';

interface TranscriptTabProps {
  readonly run: RunId;
  readonly story: RunStory;
  readonly nodes: readonly TreeNode[];
  /** The selected node. */
  readonly current: string | undefined;
  /** When the shown past frame ended: later messages are left out. Absent for now. */
  readonly until: string | undefined;
  onCurrent(node: string): void;
}

/** The work of one agent: the selected one, else the one that is at work. */
export function TranscriptTab({ run, story, nodes, current, until, onCurrent }: TranscriptTabProps) {
  const agents = useMemo(() => nodes.filter(isAgent), [nodes]);
  const node = agents.find(({ id }) => id === current) ?? busiest(agents);
  if (node === undefined) return <Empty title={words.noAgents}>{words.noAgentsWhy}</Empty>;
  return (
    <AgentTranscript
      key={node.id}
      run={run}
      story={story}
      agents={agents}
      node={node}
      until={until}
      onCurrent={onCurrent}
    />
  );
}

export function isAgent({ kind }: Pick<TreeNode, 'kind'>): boolean {
  return nodeKindFacts(kind)?.role === 'agent';
}

const order = ['blocked', 'running', 'failed', 'succeeded'] as const;

/** The agent that a person most likely wants to see. */
function busiest(agents: readonly TreeNode[]): TreeNode | undefined {
  for (const status of order) {
    const found = agents.findLast(node => node.status === status);
    if (found !== undefined) return found;
  }
  return agents[0];
}

interface AgentTranscriptProps extends Pick<TranscriptTabProps, 'run' | 'story' | 'until' | 'onCurrent'> {
  readonly agents: readonly TreeNode[];
  readonly node: TreeNode;
}

function AgentTranscript({ run, story, agents, node, until, onCurrent }: AgentTranscriptProps) {
  const { events, speech } = story;
  const all = useTasks(run, node.id, events);
  const tasks = useMemo(() => (until === undefined ? all : all && tasksThen(all, until)), [all, until]);
  const [chosen, setChosen] = useState<string>();
  const [queued, setQueued] = useState(0);
  const task = tasks?.find(({ id }) => id === chosen) ?? tasks?.at(-1);
  const moved = useMemo(() => events.findLast(event => event.node === node.id)?.seq ?? -1, [events, node.id]);
  const { chunks: read, error } = useStream(run, task, moved + (speech.get(task?.id ?? '')?.next ?? 0) + queued);
  const chunks = useMemo(() => (until === undefined ? read : read?.filter(({ at }) => at < until)), [read, until]);
  const decisions = useMemo(
    () => (until === undefined ? story.decisions.filter(({ decision }) => decision.node === node.id) : []),
    [story.decisions, node.id, until],
  );
  const isOver = task?.endedAt !== undefined;
  const transcript = useMemo(() => {
    const asked = new Map(decisions.map(({ decision: { call, proposal } }) => [call, proposal]));
    return chunks && transcriptOf(chunks, asked, task?.id);
  }, [chunks, decisions, task?.id]);
  const rows = useMemo(
    () => (transcript === undefined ? [] : transcriptRows({ transcript, decisions, isOver })),
    [transcript, decisions, isOver],
  );
  const spent = useMemo(() => chunks && spendingOf(chunks), [chunks]);
  const checkpoints = useCheckpoints(run, transcript?.tools ?? []);
  const standing = nodeStanding(node.status, node.reason);
  const { signal, word } = decisions.length > 0 ? { signal: 'waiting' as const, word: words.needsYou } : standing;
  const isLive = until === undefined && task !== undefined && !isOver;
  return (
    <div className="transcript">
      <header className="transcript-head">
        <Lamp signal={signal} />
        {agents.length > 1 ? (
          <label className="attempts">
            <span className="sr-only">{words.pickAgent}</span>
            <select value={node.id} onChange={event => onCurrent(event.target.value)}>
              {agents.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <strong className="truncate">{node.label}</strong>
        )}
        <span className={`word word-${signal}`}>{word}</span>
        {tasks !== undefined && tasks.length > 1 && (
          <label className="attempts">
            <span className="sr-only">{words.pickTask}</span>
            <select value={task?.id} onChange={event => setChosen(event.target.value)}>
              {tasks.map((one, index) => (
                <option key={one.id} value={one.id}>
                  {taskWords(index + 1, tasks.length, one.iteration, one.status)}
                </option>
              ))}
            </select>
          </label>
        )}
        {transcript?.model !== undefined && <code className="text-muted truncate">{transcript.model}</code>}
        {spent !== undefined && spent.inputTokens + spent.outputTokens + spent.costMicroUsd > 0 && (
          <span className="ml-auto text-muted">
            <SpendingWords spending={spent} />
          </span>
        )}
      </header>
      {tasks !== undefined && task === undefined ? (
        <Empty title={words.notStarted}>{words.notStartedWhy}</Empty>
      ) : chunks === undefined ? (
        error === null ? (
          <Empty title={words.loading} />
        ) : (
          <ErrorBox error={error} title={words.notLoaded} />
        )
      ) : rows.length === 0 ? (
        <Empty title={words.nothing} />
      ) : (
        <TranscriptList
          key={task?.id}
          run={run}
          label={node.label}
          rows={rows}
          checkpoints={checkpoints}
          isLive={isLive}
        />
      )}
      {isLive && <ComposeBox run={run} node={node.id} onQueued={() => setQueued(times => times + 1)} />}
    </div>
  );
}
