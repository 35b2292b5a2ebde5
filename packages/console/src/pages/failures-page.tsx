import { isWorkKind, type RunId, type RunSummary } from '@signalbox/model';
import { useMemo, useState } from 'react';
import { FailureTrend } from '../failures/failure-trend.tsx';
import { words } from '../failures/words.ts';
import { RunHints } from '../runs/run-hints.tsx';
import { RunLine } from '../runs/run-line.tsx';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';
import { isStreak, streaks } from '../settings/read-settings.ts';
import { changeSettings, useSettings } from '../settings/settings.ts';
import { Confirm } from '../shell/confirm.tsx';
import { Empty, ErrorBox, Refused } from '../shell/notices.tsx';
import { usePageActions } from '../shell/page-actions.ts';
import { ThrownCode } from '../shell/thrown-code.tsx';
import { useCommand } from '../shell/use-command.ts';
import { useNow } from '../shell/use-now.ts';
import { type FailureGroup, failureGroups, failureStreaks, hasFailed } from '../story/failure-groups.ts';

const READ = 500;
const none: readonly RunSummary[] = [];

/** Failed runs, grouped by cause. */
export function FailuresPage() {
  const client = useClient();
  const { runs = none } = useLive();
  const now = useNow();
  const { streak } = useSettings();
  const marks = runs.filter(({ record }) => record.endedAt !== undefined || record.status === 'stalled');
  const { data, error } = useRead(
    ['ended', marks.map(({ id, record }) => `${id} ${record.status}`).join()],
    () => client.runs({ status: ['failed', 'stalled', 'completed'], limit: READ }),
    { keeps: true },
  );
  const known = useMemo(() => {
    const byId = new Map([...(data?.runs ?? []), ...runs].map(run => [run.id, run]));
    return [...byId.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1));
  }, [data, runs]);
  const groups = useMemo(() => failureGroups(known), [known]);
  const inARow = useMemo(() => failureStreaks(known, streak), [known, streak]);
  if (error !== null && data === undefined) return <Refused page={words.page} error={error} title={words.notLoaded} />;
  return (
    <div className="room">
      <title>Failures · Signalbox</title>
      <div className="roomhead">
        <h1>{words.page}</h1>
        <p className="text-muted">
          {data === undefined
            ? words.loading
            : groups.length === 0
              ? words.none
              : words.sum(known.filter(hasFailed).length, groups.length)}
        </p>
      </div>
      <div className="failure-head">
        <FailureTrend
          runs={known}
          now={now}
          {...(data?.next !== undefined && { knownSince: known.at(-1)?.record.createdAt })}
        />
        <label className="check">
          {words.flag}
          <input
            type="number"
            className="field w-16"
            min={streaks.least}
            max={streaks.most}
            value={streak}
            onChange={({ target }) =>
              isStreak(target.valueAsNumber) && changeSettings({ streak: target.valueAsNumber })
            }
          />
          {words.flagUnit}
        </label>
      </div>
      {inARow.map(({ name, count }) => (
        <p key={name} role="status" className="streak">
          <strong>{name}</strong> {words.streak(count)}
        </p>
      ))}
      {data !== undefined && groups.length === 0 && <Empty title={words.noneWhy} />}
      {groups.map(group => (
        <Group key={group.key} group={group} now={now} />
      ))}
    </div>
  );
}

const LISTED = 5;

function Group({ group, now }: { readonly group: FailureGroup; readonly now: number }) {
  const client = useClient();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const [isAsking, setIsAsking] = useState(false);
  const [isLong, setIsLong] = useState(false);
  const { code, message, runs } = group;
  const open = runs.filter(({ record }) => record.endedAt === undefined && record.status === 'stalled');

  /** Retries each failed node; if none is known, resumes the run. */
  const retry = async (run: RunId) => {
    const read = await client.run(run);
    const failed = read.ok ? read.value.tree.filter(node => node.status === 'failed' && isWorkKind(node.kind)) : [];
    if (failed.length === 0) return client.resume(run);
    let done = await client.retry(run, failed[0]?.id ?? '');
    for (const { id } of failed.slice(1)) if (done.ok) done = await client.retry(run, id);
    return done;
  };
  const each = async (members: readonly RunSummary[], act: (run: RunId) => ReturnType<typeof retry>) => {
    // A refusal does not keep the others from being retried; its error is shown at the end.
    let refused: Awaited<ReturnType<typeof act>> | undefined;
    for (const { id } of members) {
      await send(async () => {
        const done = await act(id);
        if (!done.ok) refused = done;
        return done;
      });
    }
    const last = refused;
    if (last !== undefined) await send(async () => last);
  };
  usePageActions([
    { name: `${words.retry(runs.length)}: ${message.split('\n', 1)[0]}`, act: () => void each(runs, retry) },
  ]);
  return (
    <section aria-label={message} className="failure">
      <header>
        <div className="min-w-0">
          <pre className="failure-words">{message}</pre>
          <code className="text-faint">{code}</code>
        </div>
        <span className="failure-count">
          <b>{runs.length}</b> {words.runs(runs.length)}
        </span>
        <div className="levers">
          <button type="button" className="button" disabled={isBusy} onClick={() => each(runs, retry)}>
            {words.retry(runs.length)}
          </button>
          {open.length > 0 && dangerous === 'ask' && (
            <button type="button" className="button button-danger" disabled={isBusy} onClick={() => setIsAsking(true)}>
              {words.cancelAll}
            </button>
          )}
        </div>
      </header>
      {error !== undefined && <ErrorBox error={error} title={words.someFailed} />}
      {runs[0]?.record.error?.thrown !== undefined && (
        <div className="failure-code">
          <ThrownCode thrown={runs[0].record.error.thrown} isOpen />
        </div>
      )}
      <div className="runs-whole">
        <RunHints />
        <ul className="runs">
          {(isLong ? runs : runs.slice(0, LISTED)).map(run => (
            <RunLine key={run.id} run={run} now={now} isGrouped />
          ))}
        </ul>
      </div>
      {!isLong && runs.length > LISTED && (
        <button type="button" className="button button-quiet" onClick={() => setIsLong(true)}>
          {words.more(runs.length - LISTED)}
        </button>
      )}
      {isAsking && (
        <Confirm
          title={words.stop(open.length)}
          word={words.stopWord}
          onConfirm={() => each(open, run => client.stop(run))}
          onClose={() => setIsAsking(false)}
        >
          <p>{words.stopDoes}</p>
        </Confirm>
      )}
    </section>
  );
}
