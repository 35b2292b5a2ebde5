import { defined, type RunId, runId, type TreeNode } from '@signalbox/model';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Tabs } from 'radix-ui';
import { useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { Inspector } from '../inspector/inspector.tsx';
import { ArtifactsTab } from '../run/artifacts-tab.tsx';
import { EventsTab } from '../run/events-tab.tsx';
import { FilesTab } from '../run/files-tab.tsx';
import { GuidedRun } from '../run/guided-run.tsx';
import { NowTab } from '../run/now-tab.tsx';
import { PlanTab } from '../run/plan-tab.tsx';
import { RunCard } from '../run/run-card.tsx';
import { RunHead } from '../run/run-head.tsx';
import { isCollected } from '../run/run-notes.ts';
import { type FrameTab, frameTabs, type RunPlace } from '../run/run-place.ts';
import { SpendTab } from '../run/spend-tab.tsx';
import { sumOf } from '../run/spending.ts';
import { StateTab } from '../run/state-tab.tsx';
import { ThenTab } from '../run/then-tab.tsx';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { useSettings } from '../settings/settings.ts';
import { Empty, LinkBanner, Refused } from '../shell/notices.tsx';
import { usePageActions } from '../shell/page-actions.ts';
import { useRecentRun } from '../shell/recent.ts';
import { withHeldGroups } from '../story/held-groups.ts';
import type { FrameMark } from '../story/run-story.ts';
import { useFrame } from '../story/use-frame.ts';
import { useRun } from '../story/use-run.ts';
import { useStateNow } from '../story/use-state-now.ts';
import { FrameLine } from '../timeline/frame-line.tsx';
import { workTimes } from '../timeline/run-spans.ts';
import { RunTime } from '../timeline/run-time.tsx';
import { useWork } from '../timeline/use-work.ts';
import { isAgent, TranscriptTab } from '../transcript/transcript-tab.tsx';
import { PlanTree } from '../tree/plan-tree.tsx';
import { NoSuchPage } from './no-such-page.tsx';

const route = getRouteApi('/runs/$run');

export function RunPage() {
  const run = runId.safeParse(route.useParams().run);
  return run.success ? <OneRun key={run.data} run={run.data} /> : <NoSuchPage />;
}

/** One run: its plan, its frames, and the inspector; always all three. */
function OneRun({ run }: { readonly run: RunId }) {
  const client = useClient();
  const place = route.useSearch();
  const { dangerous } = useSettings();
  const navigate = route.useNavigate();
  const story = useRun(client, run);
  const { link, summary, nodes, events, frames, handlers } = story;
  const keepFrame = useCallback(
    (change: RunPlace) =>
      void navigate({ search: ({ frame: _, ...rest }: RunPlace) => ({ ...rest, ...change }), replace: true }),
    [navigate],
  );
  const [frame, setFrame] = useFrameOfPlace(place, keepFrame);
  // Stable functions, so that the tree is drawn again only when it changed.
  const go = useCallback(
    (change: RunPlace) => void navigate({ search: (before: RunPlace) => ({ ...before, ...change }), replace: true }),
    [navigate],
  );
  const lookAt = useCallback((id: string) => go({ node: id }), [go]);
  const [query, setQuery] = useState('');
  const view = useFrame(run, frame);
  const lastChange = useMemo(
    () => events.findLast(({ type }) => type === 'state.changed' || type === 'frame.committed')?.seq ?? 0,
    [events],
  );
  const { look = 'summary', node: current } = place;
  const isOfAgent = current !== undefined && isAgentAt(nodes.get(current));
  const tab = place.tab ?? (isOfAgent ? 'transcript' : 'now');
  const now = useStateNow(run, lastChange, tab === 'state' && frame === undefined);
  const live = useMemo(() => [...nodes.values()], [nodes]);
  const wanted = frame === undefined ? live : (view.tree ?? live);
  const drawn = useDeferredValue(wanted);
  // The first content is drawn at once: deferred, it would wait for everything else that is being read.
  const shownTree = drawn.length === 0 ? wanted : drawn;
  const tree = useMemo(() => withHeldGroups(shownTree), [shownTree]);
  const tasks = useWork(run, events, summary?.record.status ?? '');
  const times = useMemo(() => (tasks === undefined ? noTimes : workTimes(tasks)), [tasks]);
  const lastCall = useMemo(() => events.findLast(({ type }) => type === 'usage.recorded')?.seq ?? 0, [events]);
  const spent = useRead(['spending', run, lastCall], () => client.spending({ run }), { keeps: true });

  useRecentRun(run, summary?.record.name);
  usePageActions(
    live.slice(0, NODES_OFFERED).map(({ id, label, kind }) => ({
      name: `Go to ${label} (${kind})`,
      isPlace: true as const,
      act: () => lookAt(id),
    })),
  );
  if (summary === undefined) {
    return link.status === 'ended' ? (
      <Refused page="A run" error={link.error} title="This run cannot be shown">
        <Link to="/runs">All runs</Link>
      </Refused>
    ) : (
      <Empty title="Loading run…" />
    );
  }
  if (summary.guided !== undefined) return <GuidedRun summary={summary} guided={summary.guided} />;
  const shown = current === undefined ? undefined : tree.find(({ id }) => id === current);
  const canEdit = summary.record.status !== 'completed' && dangerous === 'ask';
  const isGone = isCollected(summary.record, frame);
  return (
    <div className="runpage">
      <title>{`${summary.record.name} · Signalbox`}</title>
      <LinkBanner link={link} />
      <RunHead summary={summary} spending={spent.data && sumOf(spent.data.spending)} frame={frame} />
      <div className="panes">
        <section aria-label="Plan tree" className="pane pane-tree">
          <div className="pane-head">
            <h2 className="eyebrow">Plan{frame !== undefined && <span className="then"> in frame {frame}</span>}</h2>
            <input
              type="search"
              className="field"
              aria-label="Filter the plan"
              placeholder="Name or status"
              value={query}
              onChange={event => setQuery(event.target.value)}
            />
          </div>
          {isGone ? (
            <Empty title={`Frame ${frame} was collected`} />
          ) : tree.length === 0 ? (
            <Empty title="Nothing rendered yet" />
          ) : (
            <PlanTree
              nodes={tree}
              query={query}
              handlers={handlers}
              times={frame === undefined ? times : noTimes}
              current={current}
              onCurrent={lookAt}
            />
          )}
        </section>
        <section aria-label="Frame" className="pane pane-frame">
          <FrameLine
            frames={frames}
            total={summary.record.frames}
            hasEnded={summary.record.endedAt !== undefined}
            frame={frame}
            onFrame={setFrame}
          />
          <Tabs.Root
            value={tab}
            onValueChange={name => go({ tab: frameTabs.find(one => one === name) ?? 'now' })}
            className="tabbed"
          >
            <Tabs.List className="tabs" aria-label="Frame details">
              {frameTabs.map(name => (
                <Tabs.Trigger key={name} value={name} className="tab">
                  {name === 'now' && frame !== undefined ? `Frame ${frame}` : tabWords[name]}
                </Tabs.Trigger>
              ))}
            </Tabs.List>
            <Tabs.Content value={tab} className="tabpage">
              {isGone && (tab === 'now' || tab === 'plan' || tab === 'state') && (
                <Empty title="Only the events of this frame remain">Its tree and state were collected.</Empty>
              )}
              {tab === 'now' &&
                !isGone &&
                (frame === undefined ? (
                  <NowTab run={run} story={story} nodes={live} onCurrent={lookAt} onFrame={setFrame} />
                ) : (
                  <ThenTab run={run} frame={view.frame ?? frame} view={view} onCurrent={lookAt} />
                ))}
              {tab === 'time' && (
                <RunTime
                  run={run}
                  nodes={tree}
                  tasks={tasks}
                  events={events}
                  record={summary.record}
                  current={current}
                  frameAt={frame === undefined ? undefined : frames.find(({ index }) => index === frame)?.at}
                  onCurrent={lookAt}
                />
              )}
              {tab === 'transcript' && (
                <TranscriptTab
                  run={run}
                  story={story}
                  nodes={tree}
                  current={current}
                  until={frame === undefined ? undefined : endOf(frames, view.frame ?? frame)}
                  onCurrent={lookAt}
                />
              )}
              {tab === 'plan' && !isGone && <PlanTab nodes={tree} current={current} onCurrent={lookAt} />}
              {tab === 'state' && !isGone && (
                <StateTab
                  {...(frame === undefined ? { ...now, before: undefined } : view)}
                  {...(frame === undefined && canEdit && { run })}
                />
              )}
              {tab === 'events' && (
                <EventsTab
                  run={run}
                  events={events}
                  fault={story.eventsFault}
                  total={summary.record.nextSeq}
                  frame={frame === undefined ? undefined : (view.frame ?? frame)}
                />
              )}
              {tab === 'spend' && (
                <SpendTab
                  run={run}
                  hasEnded={summary.record.endedAt !== undefined}
                  version={summary.record.updatedAt}
                  node={current}
                  onCurrent={lookAt}
                />
              )}
              {tab === 'files' && <FilesTab run={run} frame={view.frame} version={summary.record.updatedAt} />}
              {tab === 'artifacts' && <ArtifactsTab run={run} version={summary.record.updatedAt} />}
            </Tabs.Content>
          </Tabs.Root>
        </section>
        {shown === undefined ? (
          <RunCard summary={summary} input={story.input} />
        ) : (
          <Inspector
            key={shown.id}
            run={run}
            node={shown}
            story={story}
            frame={frame === undefined ? undefined : (view.frame ?? frame)}
            until={frame === undefined ? undefined : endOf(frames, view.frame ?? frame)}
            tab={look}
            onTab={name => go({ look: name })}
          />
        )}
      </div>
    </div>
  );
}

/** More would slow down the palette, which is typed into. */
const NODES_OFFERED = 500;

const tabWords: Record<FrameTab, string> = {
  now: 'Now',
  time: 'Timeline',
  transcript: 'Transcript',
  plan: 'Plan',
  state: 'State',
  events: 'Events',
  spend: 'Spend',
  files: 'Files',
  artifacts: 'Artifacts',
};

const noTimes: ReturnType<typeof workTimes> = new Map();
function isAgentAt(node: TreeNode | undefined): boolean {
  return node !== undefined && isAgent(node);
}

/** When a frame was followed by the next; undefined for the latest. */
function endOf(frames: readonly FrameMark[], frame: number): string | undefined {
  return frames.find(({ index }) => index === frame + 1)?.at;
}

const ADDRESS_MS = 250;

/** The selected frame: at once here, and in the address when the slider rests, since a drag passes hundreds of frames. Following is in the address at once. */
function useFrameOfPlace(
  { frame: given }: RunPlace,
  keep: (change: { readonly frame?: number }) => void,
): readonly [number | undefined, (frame: number | undefined) => void] {
  const [frame, setFrame] = useState(given);
  useEffect(() => {
    if (frame === given) return;
    const timer = setTimeout(() => keep(defined({ frame })), frame === undefined ? 0 : ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [frame, given, keep]);
  return [frame, setFrame];
}
