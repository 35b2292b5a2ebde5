import type { RunId, TreeNode, WireDecision, WireEvent } from '@signalbox/model';
import { Tabs } from 'radix-ui';
import { useMemo, useState } from 'react';
import { type InspectorTab, inspectorTabs } from '../run/run-place.ts';
import { Lamp } from '../shell/lamp.tsx';
import { reasonWords } from '../story/reason-words.ts';
import type { RunStory } from '../story/run-story.ts';
import { nodeStanding } from '../story/words.ts';
import { InputTab } from './input-tab.tsx';
import { DefinitionTab, JsonTab, LogsTab, OutputTab, SummaryTab } from './inspector-tabs.tsx';
import { NodeLevers } from './node-levers.tsx';
import { tasksThen } from './task-then.ts';
import { ToolsTab } from './tools-tab.tsx';
import { transcriptOf } from './transcript.ts';
import { useNodeInput, useStream, useTasks } from './use-node-work.ts';

interface InspectorProps {
  readonly run: RunId;
  readonly node: TreeNode;
  readonly story: RunStory;
  /** A past frame, if one is shown: then the node offers no actions. */
  readonly frame: number | undefined;
  /** When that frame ended: what came later is left out. */
  readonly until?: string | undefined;
  readonly tab: InspectorTab;
  onTab(tab: InspectorTab): void;
}

const none: readonly WireDecision[] = [];

/** One node: its input, work and output. */
export function Inspector({ run, node, story, frame, until, tab, onTab }: InspectorProps) {
  const { events, decisions, speech } = story;
  const all = useTasks(run, node.id, events);
  const own = useMemo(() => (until === undefined ? all : all && tasksThen(all, until)), [all, until]);
  const [chosen, setChosen] = useState<string>();
  const task =
    own?.find(({ id }) => id === chosen) ??
    own?.findLast(({ iteration }) => iteration === node.iteration) ??
    own?.at(-1);
  const moved = lastMoveOf(events, node.id);
  const input = useNodeInput(run, node.id, frame, moved);
  const { chunks: read } = useStream(run, task, moved + (speech.get(task?.id ?? '')?.next ?? 0));
  const chunks = useMemo(() => (until === undefined ? read : read?.filter(({ at }) => at < until)), [read, until]);
  const open = frame === undefined ? decisions : none;
  // An agent that speaks draws the page many times a second, and its transcript may be long.
  const transcript = useMemo(() => {
    const asked = new Map(open.map(({ decision: { call, proposal } }) => [call, proposal]));
    return chunks && transcriptOf(chunks, asked, task?.id);
  }, [chunks, open, task?.id]);
  const { signal, word } = nodeStanding(node.status, node.reason);
  const part = { run, node, tasks: own, task, chunks, transcript, story };
  return (
    <section aria-label="Inspector" className="inspector">
      <header className="inspector-head">
        <h2>
          <Lamp signal={signal} size={16} />
          <span className="truncate">{node.label}</span>
          <span className="kind">{node.kind}</span>
        </h2>
        <p className={`word word-${signal}`}>
          {word}
          {node.reason !== undefined && `: ${reasonWords(node.reason)}`}
        </p>
        {own !== undefined && own.length > 1 && (
          <label className="attempts">
            <span className="sr-only">Task</span>
            <select value={task?.id} onChange={event => setChosen(event.target.value)}>
              {own.map((one, index) => (
                <option key={one.id} value={one.id}>
                  {index + 1} of {own.length}: turn {one.iteration + 1}, {one.status}
                </option>
              ))}
            </select>
          </label>
        )}
        {frame === undefined && <NodeLevers run={run} node={node} />}
      </header>
      <Tabs.Root
        value={tab}
        onValueChange={name => onTab(inspectorTabs.find(one => one === name) ?? 'summary')}
        className="tabbed"
      >
        <Tabs.List className="tabs" aria-label="Node details">
          {inspectorTabs.map(name => (
            <Tabs.Trigger key={name} value={name} className="tab">
              {tabWords[name]}
              {name === 'tools' && transcript !== undefined && transcript.tools.length > 0 && (
                <span className="count"> {transcript.tools.length}</span>
              )}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value={tab} className="tabpage">
          {tab === 'summary' && <SummaryTab {...part} decisions={open} input={input.data} />}
          {tab === 'input' && (
            <InputTab
              input={input.data}
              error={input.error}
              transcript={transcript}
              asked={open.find(({ decision }) => decision.node === node.id)}
            />
          )}
          {tab === 'output' && <OutputTab {...part} />}
          {tab === 'tools' && <ToolsTab run={run} transcript={transcript} task={task} />}
          {tab === 'logs' && <LogsTab {...part} />}
          {tab === 'json' && <JsonTab {...part} />}
          {tab === 'definition' && <DefinitionTab {...part} />}
        </Tabs.Content>
      </Tabs.Root>
    </section>
  );
}

const tabWords: Record<InspectorTab, string> = {
  summary: 'Summary',
  input: 'Input',
  output: 'Output',
  tools: 'Tools',
  logs: 'Logs',
  json: 'JSON',
  definition: 'Definition',
};

function lastMoveOf(events: readonly WireEvent[], node: string): number {
  return events.findLast(event => event.node === node)?.seq ?? 0;
}
