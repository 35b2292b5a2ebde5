import type { Client } from '@signalbox/client';
import type { RunId } from '@signalbox/model';
import { useMemo, useState } from 'react';
import { DecisionCard } from '../decisions/decision-card.tsx';
import { Link } from '../frame/link.tsx';
import { Empty, ErrorBox, LinkBanner } from '../frame/notices.tsx';
import { useFrame } from '../story/use-frame.ts';
import { useRun } from '../story/use-run.ts';
import { FrameLine } from '../timeline/frame-line.tsx';
import { NodeBar } from '../tree/node-bar.tsx';
import { PlanTree } from '../tree/plan-tree.tsx';
import { EventTail } from './event-tail.tsx';
import { Outcome } from './outcome.tsx';
import { RunHead } from './run-head.tsx';
import { Speeches } from './speeches.tsx';
import { StateTable } from './state-table.tsx';
import { useRefusal } from './use-refusal.ts';

interface RunRoomProps {
  readonly client: Client;
  readonly run: RunId;
  onRefused(): void;
}

/** One run: its plan as it is now, what it says and does, and what a person can do about it. */
export function RunRoom({ client, run, onRefused }: RunRoomProps) {
  const story = useRun(client, run);
  const { link, summary, nodes, decisions, tasks, events, frames, speech, fault } = story;
  /** The frame that is looked back at; undefined follows what happens. */
  const [frame, setFrame] = useState<number>();
  const [current, setCurrent] = useState<string>();
  const looked = current === undefined ? undefined : nodes.get(current);
  const lastChange = useMemo(
    () => events.findLast(({ type }) => type === 'state.changed' || type === 'frame.committed')?.seq ?? 0,
    [events],
  );
  const view = useFrame(client, run, frame, frame === undefined ? lastChange : 0);
  const tree = useMemo(
    () => (frame === undefined ? [...nodes.values()] : (view.tree ?? [])),
    [frame, nodes, view.tree],
  );
  useRefusal(link, onRefused);

  if (summary === undefined) {
    return (
      <div className="room">
        <LinkBanner link={link} />
        {link.status === 'ended' ? (
          <ErrorBox error={link.error} title="This run cannot be shown" />
        ) : (
          <Empty title="Looking for the run…" />
        )}
        <p className="px-4">
          <Link href="/">All runs</Link>
        </p>
      </div>
    );
  }
  return (
    <div className="room">
      <title>{`${summary.record.name} · Signalbox`}</title>
      <LinkBanner link={link} />
      <RunHead client={client} summary={summary} />
      {fault !== undefined && (
        <section role="alert" className="errorbox">
          <h2>{summary.record.status === 'failed' ? 'The run failed' : 'The run met an error'}</h2>
          <pre className="mono whitespace-pre-wrap">{fault.message}</pre>
          <code>{fault.code}</code>
        </section>
      )}
      {decisions.length > 0 && (
        <section aria-label="Decisions that wait for you" className="decisions">
          {decisions.map(decision => (
            <DecisionCard
              key={decision.approvalId}
              client={client}
              decision={decision}
              label={nodes.get(decision.decision.node)?.label ?? decision.decision.node}
            />
          ))}
        </section>
      )}
      <FrameLine frames={frames} total={summary.record.frames} frame={frame} onFrame={setFrame} />
      <div className="columns">
        <section aria-labelledby="plan-title" className="panel panel-plan">
          <h2 id="plan-title">Plan{frame !== undefined && <span className="then"> in frame {frame}</span>}</h2>
          {tree.length === 0 ? (
            <Empty title="Nothing is rendered yet" />
          ) : (
            <PlanTree nodes={tree} current={current} onCurrent={setCurrent} />
          )}
          {frame === undefined && looked !== undefined && <NodeBar client={client} run={run} node={looked} />}
        </section>
        <div className="side">
          <Speeches tasks={tasks} nodes={nodes} speech={speech} />
          <section aria-labelledby="state-title" className="panel">
            <h2 id="state-title">State{frame !== undefined && <span className="then"> in frame {frame}</span>}</h2>
            {view.error !== undefined && <p className="px-3 py-2 text-failed">{view.error.message}</p>}
            <StateTable state={view.state} />
          </section>
          {summary.record.status === 'completed' && <Outcome client={client} run={run} />}
          <EventTail events={events} />
        </div>
      </div>
    </div>
  );
}
