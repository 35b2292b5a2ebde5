import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useEffect, useRef } from 'react';
import { linkToRun } from '../runs/run-link.ts';
import { useLive } from '../server/live.tsx';
import { choices } from '../settings/read-settings.ts';
import { changeSettings } from '../settings/settings.ts';
import { headlineOf } from '../story/question.ts';
import { runStanding } from '../story/words.ts';
import { Dialog } from './dialog.tsx';
import { Lamp } from './lamp.tsx';
import type { PageLink } from './use-pages.ts';

const RUNS_LISTED = 200;

/** Goes anywhere by typing a part of its name. */
export function Palette({ pages, onClose }: { readonly pages: readonly PageLink[]; onClose(): void }) {
  const { runs = [], decisions = [] } = useLive();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  // The dialog gives the focus to what comes first in it, which is not the field.
  useEffect(() => field.current?.focus(), []);
  const after = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <Dialog title="Go to" isBare className="palette" onClose={onClose}>
      <Command label="Go to" loop>
        <Command.Input ref={field} placeholder="a page, a run, a setting…" />
        <Command.List>
          <Command.Empty>Nothing is called that</Command.Empty>
          <Command.Group heading="Pages">
            {pages.map(({ to, name, key, go }) => (
              <Command.Item key={to} value={`page ${name}`} onSelect={after(go)}>
                {name}
                <kbd>g {key}</kbd>
              </Command.Item>
            ))}
          </Command.Group>
          {decisions.length > 0 && (
            <Command.Group heading="Waits for you">
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
          <Command.Group heading="Runs">
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
          <Command.Group heading="Settings">
            {choices.theme.map(theme => (
              <Command.Item key={theme} value={`theme ${theme}`} onSelect={after(() => changeSettings({ theme }))}>
                Theme: {theme}
              </Command.Item>
            ))}
            {choices.time.map(time => (
              <Command.Item key={time} value={`times ${time}`} onSelect={after(() => changeSettings({ time }))}>
                Times: {time}
              </Command.Item>
            ))}
          </Command.Group>
        </Command.List>
      </Command>
    </Dialog>
  );
}
