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

/** The parent of this run, the parent's other forks, and the forks of this run. */
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
              <code title="Could not load the lineage">{origin.run}</code>
            ) : (
              <RunLink run={origin.run} frame={origin.frame} name={name ?? origin.run.slice(-8)} />
            )}
            {origin.frame !== undefined && <span className="text-muted">at frame {origin.frame}</span>}
            {origin.kind === 'fork' && <CompareLink a={origin.run} b={run} />}
          </li>
        )}
        {others.map(fork => (
          <ForkLine key={fork.run} fork={fork} words="also forked" to={run} />
        ))}
        {forks.map(fork => (
          <ForkLine key={fork.run} fork={fork} words="forked" to={run} />
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
  /** The run that it can be compared with. */
  readonly to: RunId;
}

function ForkLine({ fork: { run, frame, name, status, createdAt }, words, to }: ForkLineProps) {
  const { signal, word } = storedStanding(status);
  return (
    <li>
      <Lamp signal={signal} />
      <RunLink run={run} name={name} />
      <span className="text-muted">
        {words} at frame {frame}, {word}
      </span>
      <Moment at={createdAt} className="text-faint" />
      <CompareLink a={to} b={run} />
    </li>
  );
}

function CompareLink({ a, b }: { readonly a: RunId; readonly b: RunId }) {
  return (
    <Link to="/compare" search={{ a, b }} preload={false} className="whitespace-nowrap">
      Compare
    </Link>
  );
}

function RunLink({ run, frame, name }: { readonly run: RunId; readonly frame?: number | undefined; name: string }) {
  return (
    <Link to="/runs/$run" params={{ run }} search={frame === undefined ? {} : { frame }} className="truncate">
      {name}
    </Link>
  );
}
