import { useState } from 'react';
import { choices, type Settings } from '../settings/read-settings.ts';
import { ServerSettings } from '../settings/server-settings.tsx';
import { changeSettings, useSettings } from '../settings/settings.ts';
import { Panel } from '../shell/panel.tsx';
import { momentWords } from '../story/words.ts';

const themeWords: Record<Settings['theme'], string> = { system: 'System', dark: 'Dark', light: 'Light' };
const timeWords: Record<Settings['time'], string> = { relative: 'Relative', local: 'Local time', utc: 'UTC' };
const dangerWords: Record<Settings['dangerous'], string> = { ask: 'Ask for confirmation', off: 'Hide' };

const notifyWords = {
  notify: 'a decision needs me',
  notifyFailed: 'a run failed',
  notifyDone: 'a run completed',
} as const;
const notifyKinds = ['notify', 'notifyFailed', 'notifyDone'] as const;

/** This browser's settings. */
export function SettingsPage() {
  const settings = useSettings();
  const [refused, setRefused] = useState(false);
  const notify = async (kind: keyof typeof notifyWords, wanted: boolean) => {
    const isGranted = wanted && (await Notification.requestPermission()) === 'granted';
    setRefused(wanted && !isGranted);
    changeSettings({ [kind]: isGranted });
  };
  return (
    <div className="room room-narrow">
      <title>Settings · Signalbox</title>
      <div className="roomhead">
        <h1>Settings</h1>
        <p className="text-muted">The first part is stored in this browser and does not affect runs.</p>
      </div>
      <Panel title="Appearance">
        <Choice
          legend="Theme"
          options={choices.theme}
          words={themeWords}
          value={settings.theme}
          onChoice={theme => changeSettings({ theme })}
        />
        <Choice
          legend="Times"
          about={`Five minutes ago is “${momentWords(new Date(Date.now() - 300_000).toISOString(), settings.time, Date.now())}”.`}
          options={choices.time}
          words={timeWords}
          value={settings.time}
          onChoice={time => changeSettings({ time })}
        />
      </Panel>
      <Panel title="Safety">
        <Choice
          legend="Actions that cannot be undone"
          about="Terminating a run, and actions on many runs at once."
          options={choices.dangerous}
          words={dangerWords}
          value={settings.dangerous}
          onChoice={dangerous => changeSettings({ dangerous })}
        />
      </Panel>
      <Panel title="Notifications">
        <fieldset className="choice">
          <legend>While this page is in the background, notify me when</legend>
          {notifyKinds.map(kind => (
            <label key={kind} className="check">
              <input type="checkbox" checked={settings[kind]} onChange={event => notify(kind, event.target.checked)} />
              {notifyWords[kind]}
            </label>
          ))}
          <div className="form-row">
            <label className="quiet-hour">
              Quiet from
              <input
                className="field"
                type="time"
                value={settings.quiet.from}
                onChange={event => changeSettings({ quiet: { ...settings.quiet, from: event.target.value } })}
              />
            </label>
            <label className="quiet-hour">
              Quiet until
              <input
                className="field"
                type="time"
                value={settings.quiet.to}
                onChange={event => changeSettings({ quiet: { ...settings.quiet, to: event.target.value } })}
              />
            </label>
          </div>
          {refused && (
            <p role="alert" className="text-failed">
              The browser does not allow notifications. Allow them for this address in the browser’s settings.
            </p>
          )}
        </fieldset>
      </Panel>
      <Panel title="Developer">
        <fieldset className="choice">
          <legend>For developers</legend>
          <label className="check">
            <input
              type="checkbox"
              checked={settings.developer}
              onChange={event => changeSettings({ developer: event.target.checked })}
            />
            Show a page with raw JSON, the OpenAPI document and metrics
          </label>
        </fieldset>
      </Panel>
      <ServerSettings />
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  readonly legend: string;
  readonly about?: string;
  readonly options: readonly Value[];
  readonly words: Readonly<Record<Value, string>>;
  readonly value: Value;
  onChoice(value: Value): void;
}

function Choice<Value extends string>({ legend, about, options, words, value, onChoice }: ChoiceProps<Value>) {
  return (
    <fieldset className="choice">
      <legend>{legend}</legend>
      {about !== undefined && <p className="text-muted">{about}</p>}
      <div className="choice-options">
        {options.map(option => (
          <label key={option} className="check">
            <input type="radio" name={legend} checked={option === value} onChange={() => onChoice(option)} />
            {words[option]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
