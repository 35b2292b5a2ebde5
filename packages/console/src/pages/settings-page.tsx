import { useState } from 'react';
import { choices, type Settings } from '../settings/read-settings.ts';
import { ServerSettings } from '../settings/server-settings.tsx';
import { changeSettings, useSettings } from '../settings/settings.ts';
import { Panel } from '../shell/panel.tsx';
import { momentWords } from '../story/words.ts';

const themeWords: Record<Settings['theme'], string> = { system: 'As the system has it', dark: 'Dark', light: 'Light' };
const timeWords: Record<Settings['time'], string> = { relative: 'How long ago', local: 'Local time', utc: 'UTC' };
const dangerWords: Record<Settings['dangerous'], string> = { ask: 'Asked for twice', off: 'Not offered' };

/** What this browser keeps of what a person wants. */
export function SettingsPage() {
  const settings = useSettings();
  const [refused, setRefused] = useState(false);
  const notify = async (wanted: boolean) => {
    const isGranted = wanted && (await Notification.requestPermission()) === 'granted';
    setRefused(wanted && !isGranted);
    changeSettings({ notify: isGranted });
  };
  return (
    <div className="room room-narrow">
      <title>Settings · Signalbox</title>
      <div className="roomhead">
        <h1>Settings</h1>
        <p className="text-muted">The first part is kept in this browser. Nothing of it changes what runs do.</p>
      </div>
      <Panel title="Looks">
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
          legend="Actions that cannot be taken back"
          about="Terminating a run, and doing the same to many at once."
          options={choices.dangerous}
          words={dangerWords}
          value={settings.dangerous}
          onChoice={dangerous => changeSettings({ dangerous })}
        />
      </Panel>
      <Panel title="Notice">
        <fieldset className="choice">
          <legend>When something waits for you</legend>
          <label className="check">
            <input type="checkbox" checked={settings.notify} onChange={event => notify(event.target.checked)} />
            Notify me while this page is in the background
          </label>
          {refused && (
            <p role="alert" className="text-failed">
              The browser does not allow it. Allow notifications for this address in the browser’s settings.
            </p>
          )}
        </fieldset>
      </Panel>
      <Panel title="Developer">
        <fieldset className="choice">
          <legend>For those who build on the server</legend>
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
