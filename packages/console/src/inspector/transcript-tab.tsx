import type { WireTask } from '@signalbox/model';
import { useState } from 'react';
import { PatchFiles } from '../run/patch.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Empty } from '../shell/notices.tsx';
import { many, type Signal } from '../story/words.ts';
import type { AgentFacts, Attempt, Part, PlanStep } from './attempts.ts';
import { Block, Pair } from './block.tsx';
import { ToolCard } from './tool-card.tsx';
import type { ToolUse } from './tool-use.ts';
import type { Transcript } from './transcript.ts';

interface TranscriptTabProps {
  readonly transcript: Transcript | undefined;
  /** The selected one. */
  readonly task: WireTask | undefined;
}

/** What an agent said, thought, planned and did, attempt by attempt. All of it is text. */
export function TranscriptTab({ transcript, task }: TranscriptTabProps) {
  const attempts = transcript?.attempts ?? [];
  if (attempts.every(({ parts, agent }) => parts.length === 0 && agent === undefined))
    return <Empty title="No transcript yet" />;
  return attempts.map((attempt, index) => {
    const isLast = index === attempts.length - 1;
    return (
      <AttemptView
        key={index}
        attempt={attempt}
        number={attempts.length === 1 ? undefined : index + 1}
        isOver={!isLast || attempt.end !== undefined || task?.endedAt !== undefined}
      />
    );
  });
}

interface AttemptProps {
  readonly attempt: Attempt;
  /** Absent if there is only one. */
  readonly number: number | undefined;
  readonly isOver: boolean;
}

const PARTS_SHOWN = 200;

function AttemptView({ attempt: { agent, plan, parts, tools, end }, number, isOver }: AttemptProps) {
  const [shown, setShown] = useState(PARTS_SHOWN);
  const hidden = Math.max(0, parts.length - shown);
  return (
    <section className="attempt" aria-label={number === undefined ? 'Transcript' : `Attempt ${number}`}>
      {number !== undefined && <h3 className="attempt-head">Attempt {number}</h3>}
      {agent !== undefined && <AgentPairs agent={agent} />}
      {plan.length > 0 && <Plan steps={plan} />}
      {hidden > 0 && (
        <p className="px-3 py-2">
          <button type="button" className="button button-small" onClick={() => setShown(shown + PARTS_SHOWN)}>
            Show {many(Math.min(hidden, PARTS_SHOWN), 'earlier part')}
          </button>
        </p>
      )}
      <ol className="parts">
        {parts.slice(hidden).map((part, index) => (
          <li key={hidden + index} className={`part part-${part.kind}`}>
            <PartView part={part} tools={tools} isOver={isOver} />
          </li>
        ))}
      </ol>
      {end !== undefined && end.status !== 'succeeded' && (
        <p className="attempt-end">
          This turn {end.status}. {end.words}
        </p>
      )}
    </section>
  );
}

function AgentPairs({ agent: { title, version, from, session, asking, onLayer } }: { readonly agent: AgentFacts }) {
  return (
    <dl className="pairs">
      <Pair name="agent">
        {title} {version} {from !== undefined && <span className="text-muted">({fromWords[from] ?? from})</span>}
      </Pair>
      {session !== undefined && (
        <Pair name="its session">
          <code>{session}</code>
        </Pair>
      )}
      {asking !== undefined && <Pair name="made to ask">{asking}</Pair>}
      <Pair name="works on">
        {onLayer ? 'a layer: its changes are applied together when it is done' : 'the directory itself'}
      </Pair>
    </dl>
  );
}

const fromWords: Readonly<Record<string, string>> = {
  'data directory': 'installed here',
  PATH: 'from the PATH',
  command: 'a command of the configuration',
};

const stepSignals: Readonly<Record<string, Signal>> = { completed: 'done', in_progress: 'working', pending: 'idle' };
const stepWords: Readonly<Record<string, string>> = { completed: 'done', in_progress: 'in progress', pending: 'to do' };

function Plan({ steps }: { readonly steps: readonly PlanStep[] }) {
  return (
    <Block title="Plan of the agent">
      <ol className="agent-plan">
        {steps.map(({ text, status }, index) => (
          <li key={`${index} ${text}`} data-status={status}>
            <Lamp signal={stepSignals[status] ?? 'idle'} />
            <span className="min-w-0">{text}</span>
            <span className="text-muted">{stepWords[status] ?? status}</span>
          </li>
        ))}
      </ol>
    </Block>
  );
}

interface PartProps {
  readonly part: Part;
  readonly tools: ReadonlyMap<string, ToolUse>;
  readonly isOver: boolean;
}

function PartView({ part, tools, isOver }: PartProps) {
  switch (part.kind) {
    case 'said':
      return <p>{part.text}</p>;
    case 'thought':
      return <Folded title="Thought" text={part.text} />;
    case 'prompt':
      return <Folded title="Sent to the agent" text={part.text} />;
    case 'note':
      return <p>{part.text}</p>;
    case 'changes':
      return (
        <>
          <p>{part.isApplied ? 'These changes were applied.' : 'These changes were not applied.'}</p>
          <PatchFiles patch={part.patch} />
        </>
      );
    case 'tool': {
      const use = tools.get(part.call);
      return use === undefined ? null : <ToolCard use={use} isOver={isOver} />;
    }
  }
}

/** A text that is out of the way until somebody wants it: only its first line is shown. */
function Folded({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <details>
      <summary>
        <span>{title}</span>
        <span className="truncate">{text.trim().split('\n')[0]}</span>
      </summary>
      <p>{text}</p>
    </details>
  );
}
