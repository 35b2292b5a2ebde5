import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useEffect, useRef, useState } from 'react';
import { linkToRun } from '../runs/run-link.ts';
import { useClient } from '../server/client-context.ts';
import { useLive } from '../server/live.tsx';
import { useRead } from '../server/use-read.ts';
import { choices } from '../settings/read-settings.ts';
import { changeSettings } from '../settings/settings.ts';
import { headlineOf } from '../story/question.ts';
import { runStanding } from '../story/words.ts';
import { Dialog } from './dialog.tsx';
import { Lamp } from './lamp.tsx';
import { buttonActions, type PageAction, usePageActionList } from './page-actions.ts';
import { recentRuns } from './recent.ts';
import type { PageLink } from './use-pages.ts';
import { words } from './words.ts';

const RUNS_LISTED = 200;
const ARTIFACTS_LISTED = 50;

/** Does anything that the page offers, and goes anywhere, by typing a part of its name. */
export function Palette({ pages, onClose }: { readonly pages: readonly PageLink[]; onClose(): void }) {
  const { runs = [], decisions = [] } = useLive();
  const navigate = useNavigate();
  const client = useClient();
  const given = usePageActionList();
  // Read when the palette opens, as the page is then.
  const [buttons] = useState(buttonActions);
  const actions = [...given, ...buttons];
  const [recent] = useState(recentRuns);
  const { data } = useRead(['palette-artifacts'], () => client.artifacts({ limit: ARTIFACTS_LISTED }));
  const artifacts = data?.artifacts ?? [];
  const field = useRef<HTMLInputElement>(null);
  // The dialog focuses its first element, which is not the field.
  useEffect(() => field.current?.focus(), []);
  const after = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <Dialog title={words.palette} isBare className="palette" onClose={onClose}>
      <Command label={words.palette} loop>
        <Command.Input ref={field} placeholder={words.placeholder} />
        <Command.List>
          <Command.Empty>{words.noResults}</Command.Empty>
          <Actions
            heading={words.groups.actions}
            actions={actions.filter(({ isPlace }) => isPlace !== true)}
            after={after}
          />
          {recent.length > 0 && (
            <Command.Group heading={words.groups.recent}>
              {recent.map(({ run, name }) => (
                <Command.Item
                  key={run}
                  value={`recent ${name} ${run}`}
                  onSelect={after(() => void navigate({ to: '/runs/$run', params: { run }, search: {} }))}
                >
                  <span className="truncate">{name}</span>
                  <span className="mono text-muted">{run.slice(-8)}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          <Command.Group heading={words.groups.pages}>
            {pages.map(({ to, name, key, go }) => (
              <Command.Item key={to} value={`page ${name}`} onSelect={after(go)}>
                {name}
                <kbd>g {key}</kbd>
              </Command.Item>
            ))}
          </Command.Group>
          {decisions.length > 0 && (
            <Command.Group heading={words.groups.asks}>
              {decisions.map(decision => (
                <Command.Item
                  key={decision.approvalId}
                  value={`decision ${headlineOf(decision)} ${decision.approvalId}`}
                  onSelect={after(() => void navigate({ to: '/queue', search: { decision: decision.approvalId } }))}
                >
                  <Lamp signal="waiting" />
                  <span className="truncate">{headlineOf(decision)}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          <Command.Group heading={words.groups.runs}>
            {runs.slice(0, RUNS_LISTED).map(run => (
              <Command.Item
                key={run.id}
                value={`run ${run.record.name} ${run.id}`}
                onSelect={after(() => void navigate(linkToRun(run)))}
              >
                <Lamp signal={runStanding(run).signal} />
                <span className="truncate">{run.record.name}</span>
                <span className="mono text-muted">{run.id.slice(-8)}</span>
                <span className="palette-word">{runStanding(run).word}</span>
              </Command.Item>
            ))}
          </Command.Group>
          <Actions
            heading={words.groups.nodes}
            actions={actions.filter(({ isPlace }) => isPlace === true)}
            after={after}
          />
          {artifacts.length > 0 && (
            <Command.Group heading={words.groups.artifacts}>
              {artifacts.map(({ id, name, run }) => (
                <Command.Item
                  key={id}
                  value={`artifact ${name} ${id}`}
                  onSelect={after(
                    () => void navigate({ to: '/runs/$run', params: { run }, search: { tab: 'artifacts' } }),
                  )}
                >
                  <span className="truncate">{name}</span>
                  <span className="mono text-muted">{run.slice(-8)}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          <Command.Group heading={words.groups.settings}>
            {choices.theme.map(theme => (
              <Command.Item key={theme} value={`theme ${theme}`} onSelect={after(() => changeSettings({ theme }))}>
                {words.theme(theme)}
              </Command.Item>
            ))}
            {choices.time.map(time => (
              <Command.Item key={time} value={`times ${time}`} onSelect={after(() => changeSettings({ time }))}>
                {words.time(time)}
              </Command.Item>
            ))}
          </Command.Group>
        </Command.List>
      </Command>
    </Dialog>
  );
}

interface ActionsProps {
  readonly heading: string;
  readonly actions: readonly PageAction[];
  /** Closes the palette first. */
  after(act: () => void): () => void;
}

function Actions({ heading, actions, after }: ActionsProps) {
  if (actions.length === 0) return null;
  return (
    <Command.Group heading={heading}>
      {actions.map(({ name, key, act }, index) => (
        <Command.Item key={`${index} ${name}`} value={`action ${name} ${index}`} onSelect={after(act)}>
          <span className="truncate">{name}</span>
          {key !== undefined && <kbd>{key}</kbd>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
