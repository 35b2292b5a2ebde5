import type { RunSummary } from '@signalbox/model';
import { Link, type LinkProps } from '@tanstack/react-router';
import { Costs } from '../briefing/costs.tsx';
import { Providers } from '../briefing/providers.tsx';
import { Recoveries } from '../briefing/recoveries.tsx';
import { newsSince, useLastLook } from '../briefing/since-last-look.ts';
import { Storage } from '../briefing/storage.tsx';
import { useFleet } from '../fleet/fleet-live.tsx';
import { decisionTitle } from '../fleet/fleet-words.ts';
import { RunHints } from '../runs/run-hints.tsx';
import { RunLine } from '../runs/run-line.tsx';
import { linkToRun } from '../runs/run-link.ts';
import { useLive } from '../server/live.tsx';
import { useSettings } from '../settings/settings.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { Empty } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useNow } from '../shell/use-now.ts';
import { failureGroups, failureStreaks } from '../story/failure-groups.ts';
import { headlineOf } from '../story/question.ts';
import { isIn, movesOf } from '../story/runs-list.ts';
import { ago, many, type Signal } from '../story/words.ts';

const SHOWN = 6;
const RECENT = 20;
const none: readonly RunSummary[] = [];

/** What a person wants to know first: what happened, what is running, what needs them, and the cost. */
export function BriefingPage() {
  const { runs, decisions } = useLive();
  const now = useNow();
  const last = useLastLook();
  const { streak } = useSettings();
  const known = runs ?? none;
  const working = known.filter(run => isIn('active', run));
  const held = known.filter(({ record }) => record.status === 'paused' || record.status === 'stalled');
  const waiting = decisions ?? [];
  const since = last === undefined ? now - 86_400_000 : Date.parse(last);
  const news = newsSince(known, since);
  const failed = failureGroups(news.failed);
  const streaks = failureStreaks(known, streak);
  const runningNow = [...working, ...held].slice(0, SHOWN);
  const shownAbove = new Set(runningNow.map(({ id }) => id));
  const ofAgents = useFleet().decisions ?? [];
  // As the queue counts them.
  const asked = waiting.length + ofAgents.length;
  const isCalm = asked + failed.length + streaks.length === 0;
  return (
    <div className="room briefing">
      <title>Briefing · Signalbox</title>
      <header className="roomhead">
        <h1>Briefing</h1>
        <p className="text-muted">
          {last === undefined ? 'The last day' : `Since you last looked, ${ago(now - since)}`}
        </p>
      </header>
      <section aria-label="In short" className="figures">
        <Figure
          count={working.length}
          word="running"
          signal="working"
          link={{ to: '/runs', search: { view: 'active' } }}
        />
        <Figure
          count={asked}
          word={asked === 1 ? 'needs you' : 'need you'}
          signal="waiting"
          link={{ to: '/queue', search: {} }}
        />
        <Figure count={news.failed.length} word="failed" signal="failed" link={{ to: '/failures' }} />
        <Figure
          count={news.completed.length}
          word="completed"
          signal="done"
          link={{ to: '/runs', search: { view: 'done' } }}
        />
        <Figure count={news.began.length} word="started" signal="next" link={{ to: '/runs' }} />
      </section>
      {runs !== undefined && runs.length === 0 ? (
        <Empty title="No runs yet">
          <p>
            <Link to="/start">Start one here</Link>, or in a terminal: <code>signalbox run PLAN.tsx</code>
          </p>
        </Empty>
      ) : (
        <div className="briefing-panes">
          <div className="flex min-w-0 flex-col gap-4">
            <Panel title="Needs you" aside={asked > 0 && <span className="asks">{asked}</span>}>
              {isCalm ? (
                <Empty title="Nothing needs you" />
              ) : (
                <ul className="needs">
                  {waiting.slice(0, SHOWN).map(decision => (
                    <li key={decision.approvalId}>
                      <Link to="/queue" search={{ decision: decision.approvalId }}>
                        <Lamp signal="waiting" />
                        <span className="truncate">{headlineOf(decision)}</span>
                        <span className="text-muted">{known.find(({ id }) => id === decision.runId)?.record.name}</span>
                        <Moment at={decision.decision.askedAt} className="text-faint" />
                      </Link>
                    </li>
                  ))}
                  {ofAgents.slice(0, SHOWN).map(decision => (
                    <li key={decision.id}>
                      <Link to="/queue" search={{}}>
                        <Lamp signal="waiting" />
                        <span className="truncate">{decisionTitle(decision)}</span>
                        <span className="text-muted">{decision.agentName}</span>
                      </Link>
                    </li>
                  ))}
                  {streaks.map(({ name, count }) => (
                    <li key={name}>
                      <Link to="/runs" search={{ view: 'failed', q: name }}>
                        <Lamp signal="failed" />
                        <span className="truncate">
                          {name} failed {many(count, 'time')} in a row
                        </span>
                      </Link>
                    </li>
                  ))}
                  {failed.slice(0, SHOWN).map(({ key, message, runs: members }) => (
                    <li key={key}>
                      <Link {...(members.length === 1 ? toRun(members[0]) : { to: '/failures' })}>
                        <Lamp signal="failed" />
                        <span className="truncate">{message}</span>
                        <span className="text-muted">
                          {members[0]?.record.name}
                          {members.length > 1 && ` ×${members.length}`}
                        </span>
                        <Moment at={members[0]?.record.updatedAt ?? ''} className="text-faint" />
                      </Link>
                    </li>
                  ))}
                </ul>
              )}
              {asked > waiting.slice(0, SHOWN).length + ofAgents.slice(0, SHOWN).length && (
                <p className="px-3 pb-2">
                  <Link to="/queue" search={{}}>
                    {many(asked - waiting.slice(0, SHOWN).length - ofAgents.slice(0, SHOWN).length, 'more decision')}
                  </Link>
                </p>
              )}
            </Panel>
            <Storage moves={movesOf(known)} now={now} />
            <Recoveries now={now} />
            <Panel title="Running now">
              {working.length === 0 && held.length === 0 ? (
                <Empty title="Nothing running" />
              ) : (
                <Lines runs={runningNow} now={now} />
              )}
            </Panel>
            <Panel title="Other recent runs" aside={<Link to="/runs">all runs</Link>}>
              <Lines runs={known.filter(run => !shownAbove.has(run.id)).slice(0, RECENT)} now={now} />
            </Panel>
          </div>
          <div className="flex min-w-0 flex-col gap-4">
            <Providers runs={known} now={now} />
            <Costs runs={known} now={now} />
          </div>
        </div>
      )}
    </div>
  );
}

function Lines({ runs, now }: { readonly runs: readonly RunSummary[]; readonly now: number }) {
  return (
    <div className="runs-short">
      <RunHints />
      <ul className="runs">
        {runs.map(run => (
          <RunLine key={run.id} run={run} now={now} />
        ))}
      </ul>
    </div>
  );
}

function toRun(run: RunSummary | undefined): LinkProps {
  return run === undefined ? { to: '/failures' } : linkToRun(run);
}

interface FigureProps {
  readonly count: number;
  readonly word: string;
  readonly signal: Signal;
  /** Where to see more. */
  readonly link: LinkProps;
}

function Figure({ count, word, signal, link }: FigureProps) {
  return (
    <Link {...link} className={`figure ${count === 0 ? 'figure-none' : `figure-${signal}`}`}>
      <span className="figure-count">{count}</span>
      <span className="figure-word">{word}</span>
    </Link>
  );
}
