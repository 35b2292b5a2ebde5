import type { GuidedFacts, RunSummary } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { Pair } from '../inspector/block.tsx';
import { CopyButton } from '../shell/copy-button.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { runStanding } from '../story/words.ts';

/** A run that an agent elsewhere is guided through. It has no frames and no plan: its steps are where its session is. */
export function GuidedRun({ summary, guided }: { readonly summary: RunSummary; readonly guided: GuidedFacts }) {
  const { record } = summary;
  const { signal, word } = runStanding(summary);
  const { sessionId, workflowId, pendingStep, health } = guided;
  return (
    <div className="room">
      <title>{`${record.name} · Signalbox`}</title>
      <header className="runhead px-0">
        <div className="runhead-title">
          <Lamp signal={signal} size={20} />
          <h1>{record.name}</h1>
          <span role="status" className={`word word-${signal}`}>
            {word}
          </span>
        </div>
        {health !== 'healthy' && (
          <p className="run-note" data-kind="damaged">
            {healthWords[health]}
          </p>
        )}
      </header>
      <p className="then-words py-3">
        An agent elsewhere is guided through it, step by step. It is not paused, forked or stopped from here.
      </p>
      <dl className="pairs px-0">
        {workflowId !== null && <Pair name="workflow">{workflowId}</Pair>}
        {pendingStep !== null && <Pair name="at">{pendingStep.title}</Pair>}
        <Pair name="began">
          <Moment at={record.startedAt ?? record.createdAt} />
        </Pair>
        <Pair name="last change">
          <Moment at={record.updatedAt} />
        </Pair>
        <Pair name="run">
          <code>{record.id}</code> <CopyButton text={record.id} label="Copy the id of the run" />
        </Pair>
      </dl>
      <div className="py-3">
        <Link to="/workflows" search={{ session: sessionId }} className="button button-main">
          See its steps, notes and what it asks
        </Link>
      </div>
    </div>
  );
}

const healthWords: Record<Exclude<GuidedFacts['health'], 'healthy'>, string> = {
  corrupt_tail: 'The end of its journal is damaged. What is shown is what was saved before the damage.',
  corrupt_head: 'Its journal is damaged from the start. What is shown is what could be saved.',
  unknown_version: 'Its journal was written by another version. What is shown is what this one understands.',
};
