import type { RunSummary } from '@signalbox/model';
import { useNavigate } from '@tanstack/react-router';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { Confirm } from '../frame/confirm.tsx';
import { ErrorBox } from '../frame/notices.tsx';
import { useCommand } from '../frame/use-command.ts';
import { useClient } from '../server/client-context.ts';
import { useSettings } from '../settings/settings.ts';
import { ReplayDialog, VerifyDialog } from './check-dialog.tsx';
import { ForkDialog } from './fork-dialog.tsx';
import { saveFile } from './save-file.ts';
import { SignalDialog } from './signal-dialog.tsx';

interface RunLeversProps {
  readonly summary: RunSummary;
  /** The frame that is looked back at. */
  readonly frame: number | undefined;
}

/** What can be done about a run as a whole. Only what the run can do now is there. */
export function RunLevers({ summary: { record }, frame }: RunLeversProps) {
  const client = useClient();
  const navigate = useNavigate();
  const { dangerous } = useSettings();
  const { isBusy, error, send } = useCommand();
  const [asks, setAsks] = useState<'terminate' | 'signal' | 'fork' | 'verify' | 'replay'>();
  const { id, status } = record;
  const isUnderWay = status === 'running' || status === 'queued' || status === 'waiting';
  const isOpen = isUnderWay || status === 'paused' || status === 'stalled';
  const at = frame ?? record.frames - 1;
  const canResume = status === 'paused' || status === 'stalled' || status === 'failed' || status === 'stopped';
  const exportRun = () =>
    send(async () => {
      const bundle = await client.bundle(id);
      if (bundle.ok) saveFile(`${id}.bundle`, bundle.value, 'application/gzip');
      return bundle;
    });
  return (
    <div className="levers">
      {isUnderWay && (
        <button type="button" className="button" disabled={isBusy} onClick={() => send(() => client.pause(id))}>
          Pause
        </button>
      )}
      {canResume && (
        <button
          type="button"
          className="button button-main"
          disabled={isBusy}
          onClick={() => send(() => client.resume(id))}
        >
          Resume
        </button>
      )}
      {isOpen && (
        <button
          type="button"
          className="button button-danger"
          disabled={isBusy}
          onClick={() => send(() => client.stop(id))}
        >
          Stop
        </button>
      )}
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger className="button" aria-label="More to do with this run">
          ⋯
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
            {isOpen && (
              <DropdownMenu.Item className="menu-item" onSelect={() => setAsks('signal')}>
                Send a signal…
              </DropdownMenu.Item>
            )}
            {record.frames > 0 && (
              <DropdownMenu.Item className="menu-item" onSelect={() => setAsks('fork')}>
                Fork from frame {at}…
              </DropdownMenu.Item>
            )}
            <DropdownMenu.Item className="menu-item" onSelect={() => void exportRun()}>
              Export as a bundle
            </DropdownMenu.Item>
            <DropdownMenu.Item className="menu-item" onSelect={() => setAsks('verify')}>
              Verify its record…
            </DropdownMenu.Item>
            {record.frames > 0 && record.driver === 'plan' && (
              <DropdownMenu.Item className="menu-item" onSelect={() => setAsks('replay')}>
                Replay without models…
              </DropdownMenu.Item>
            )}
            <DropdownMenu.Item
              className="menu-item"
              onSelect={() => void send(() => (record.kept === undefined ? client.keep(id) : client.unkeep(id)))}
            >
              {record.kept === undefined ? 'Keep it for ever' : 'Let it be collected again'}
            </DropdownMenu.Item>
            {record.entry !== undefined && (
              <DropdownMenu.Item
                className="menu-item"
                onSelect={() => void navigate({ to: '/start', search: { like: id } })}
              >
                Start another like it…
              </DropdownMenu.Item>
            )}
            <DropdownMenu.Item className="menu-item" onSelect={() => void navigator.clipboard.writeText(location.href)}>
              Copy the address of this view
            </DropdownMenu.Item>
            {isOpen && dangerous === 'ask' && (
              <DropdownMenu.Item className="menu-item menu-danger" onSelect={() => setAsks('terminate')}>
                Terminate…
              </DropdownMenu.Item>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {asks === 'signal' && <SignalDialog run={id} onClose={() => setAsks(undefined)} />}
      {asks === 'fork' && (
        <ForkDialog
          run={id}
          title={`Fork from frame ${at}`}
          fork={options => client.fork(id, { frame: at, ...options })}
          onClose={() => setAsks(undefined)}
        />
      )}
      {asks === 'verify' && <VerifyDialog record={record} onClose={() => setAsks(undefined)} />}
      {asks === 'replay' && <ReplayDialog record={record} onClose={() => setAsks(undefined)} />}
      {asks === 'terminate' && (
        <Confirm
          title={`Terminate ${record.name}?`}
          word="Terminate"
          onConfirm={() => send(() => client.terminate(id))}
          onClose={() => setAsks(undefined)}
        >
          <p>
            It ends at once. What is under way is not waited for, and what it did so far may be half done. <em>Stop</em>{' '}
            ends it as well, and lets what runs clean up.
          </p>
        </Confirm>
      )}
      {error !== undefined && <ErrorBox error={error} title="It did not work" />}
    </div>
  );
}
