import { BrakePanel } from '../controls/brake-panel.tsx';
import { DecisionLog } from '../controls/decision-log.tsx';
import { ModePanel } from '../controls/mode-panel.tsx';
import { TickPanel } from '../controls/tick-panel.tsx';
import { TrustPanel } from '../controls/trust-panel.tsx';
import { useAgents, useFleet } from '../fleet/fleet-live.tsx';
import { Refused } from '../shell/notices.tsx';

/** How much agents may do, and how to stop them. */
export function ControlsPage() {
  const { isThere } = useFleet();
  const { agents = [], error, again, nameOf } = useAgents();
  const changed = () => void again();
  if (error !== null) return <Refused page="Controls" error={error} title="Could not load the controls" />;
  return (
    <div className="room">
      <title>Controls · Signalbox</title>
      <div className="roomhead">
        <h1>Controls</h1>
        <p className="text-muted">
          {isThere === false
            ? 'This server has no fleet.'
            : 'How much agents may do without you, and how to stop them.'}
        </p>
      </div>
      {isThere === true && (
        <div className="fleet-columns">
          <BrakePanel agents={agents} nameOf={nameOf} onChanged={changed} />
          <div className="flex flex-col gap-4">
            <ModePanel onChanged={changed} />
            <TickPanel onChanged={changed} />
          </div>
          <TrustPanel agents={agents} />
          <DecisionLog nameOf={nameOf} />
        </div>
      )}
    </div>
  );
}
