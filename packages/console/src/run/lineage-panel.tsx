import type { RunId, RunSummary } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Panel } from '../shell/panel.tsx';
import { storedStanding } from '../story/words.ts';

interface LineagePanelProps {
  readonly run: RunId;
  readonly origin: RunSummary['record']['origin'];
}

/** The run that this one comes from, the other runs that were forked from that one, and those that were forked from this one. */
export function LineagePanel({ run, origin }: LineagePanelProps) {
  const client = useClient();
  const { runs = [] } = useLive();
  const parent = origin?.run;
  const known = runs.filter(({ record }) => record.origin?.run === run || record.origin?.run === parent).length;
  const own = useRead(['lineage', run, known], () => client.lineage(run), { keeps: true });
  const siblings = useRead(['lineage', parent, known], () => client.lineage(parent ?? run), {
    isEnabled: origin?.kind === 'fork',
    keeps: true,
  });
  const forks = own.data?.forks ?? [];
  const others = (siblings.data?.forks ?? []).filter(fork => fork.run !== run);
  if (origin === undefined && forks.length === 0) return null;
  const name = runs.find(({ id }) => id === parent)?.record.name;
  return (
    <Panel title="Lineage" className="lineage">
      <ul className="moves">
        {origin !== undefined && (
          <li>
            <span className="text-faint">{originWords[origin.kind]}</span>
            {origin.kind === 'import' ? (
              <code title="It may not be known here">{origin.run}</code>
            ) : (
              <RunLink run={origin.run} frame={origin.frame} name={name ?? origin.run.slice(-8)} />
            )}
            {origin.frame !== undefined && <span className="text-muted">at frame {origin.frame}</span>}
          </li>
        )}
        {others.map(fork => (
          <ForkLine key={fork.run} fork={fork} words="beside it" />
        ))}
        {forks.map(fork => (
          <ForkLine key={fork.run} fork={fork} words="forked from this" />
        ))}
      </ul>
    </Panel>
  );
}

export const originWords = { fork: 'forked from', 'sub-plan': 'part of', import: 'imported from' } as const;

interface ForkLineProps {
  readonly fork: {
    readonly run: RunId;
    readonly frame: number;
    readonly name: string;
    readonly status: RunSummary['record']['status'];
    readonly createdAt: string;
  };
  readonly words: string;
}

function ForkLine({ fork: { run, frame, name, status, createdAt }, words }: ForkLineProps) {
  const { signal, word } = storedStanding(status);
  return (
    <li>
      <Lamp signal={signal} />
      <RunLink run={run} name={name} />
      <span className="text-muted">
        {words} at frame {frame}, {word}
      </span>
      <Moment at={createdAt} className="text-faint" />
    </li>
  );
}

function RunLink({ run, frame, name }: { readonly run: RunId; readonly frame?: number | undefined; name: string }) {
  return (
    <Link to="/runs/$run" params={{ run }} search={frame === undefined ? {} : { frame }} className="truncate">
      {name}
    </Link>
  );
}
