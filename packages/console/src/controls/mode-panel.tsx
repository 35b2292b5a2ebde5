import { type ControlMode, controlMode } from '@signalbox/model';
import { useFleetRead } from '../fleet/fleet-live.tsx';
import { modeWords } from '../fleet/fleet-words.ts';
import { useClient } from '../server/client-context.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { useCommand } from '../shell/use-command.ts';

/** How much agents may do without a person. */
export function ModePanel({ onChanged }: { onChanged(): void }) {
  const client = useClient();
  const { data } = useFleetRead(['mode'], () => client.controlMode());
  const { isBusy, error, send } = useCommand();
  const choose = async (mode: ControlMode) => {
    await send(() => client.setControlMode(mode));
    onChanged();
  };
  return (
    <Panel title="Control mode">
      <fieldset className="modes" disabled={isBusy || data === undefined}>
        <legend className="sr-only">Control mode</legend>
        {controlMode.options.map(mode => (
          <label key={mode} className="mode">
            <input
              type="radio"
              name="mode"
              value={mode}
              checked={data?.mode === mode}
              aria-describedby={`mode-${mode}`}
              onChange={() => choose(mode)}
            />
            <span>
              <strong>{modeWords[mode].title}</strong>
              <span id={`mode-${mode}`} className="block text-muted">
                {modeWords[mode].does}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <p className="px-3 pb-2 text-faint">A change applies to new decisions at once; those that wait keep waiting.</p>
      {error !== undefined && <ErrorBox error={error} title="The mode did not change" />}
    </Panel>
  );
}
