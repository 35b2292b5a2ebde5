import { editorUrl, type RunSummary } from '@signalbox/model';
import { useNavigate } from '@tanstack/react-router';
import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useSettings } from '../settings/settings.ts';
import { Confirm } from '../shell/confirm.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { usePageActions } from '../shell/page-actions.ts';
import { saveFile } from '../shell/save-file.ts';
import { useEditor } from '../shell/thrown-code.tsx';
import { toast } from '../shell/toasts.tsx';
import { useCommand } from '../shell/use-command.ts';
import { ReplayDialog, VerifyDialog } from './check-dialog.tsx';
import { ForkDialog } from './fork-dialog.tsx';
import { SignalDialog } from './signal-dialog.tsx';

interface RunLeversProps {
  readonly summary: RunSummary;
  /** The past frame that is shown. */
  readonly frame: number | undefined;
}

type Dialogs = 'terminate' | 'signal' | 'fork' | 'verify' | 'replay';

/** The actions for a run, only those that are possible now. */
export function RunLevers({ summary: { record }, frame }: RunLeversProps) {
  const client = useClient();
  const navigate = useNavigate();
  const { dangerous } = useSettings();
  const template = useEditor(record.entry !== undefined);
  const { isBusy, error, send } = useCommand();
  const [asks, setAsks] = useState<Dialogs>();
  // A dialog opens after the menu has closed, so that the focus returns to the button when the dialog ends.
  const [next, button] = [useRef<Dialogs>(undefined), useRef<HTMLButtonElement>(null)];
  const ask = (what: Dialogs) => () => {
    next.current = what;
  };
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
  const pause = async () => {
    const done = await send(() => client.pause(id));
    // A run that only a person can move on has nothing to pause.
    if (done && status !== 'waiting') toast(`Paused ${record.name}`, () => void send(() => client.resume(id)));
  };
  const stop = async () => {
    if (await send(() => client.stop(id))) toast(`Stopped ${record.name}`, () => void send(() => client.resume(id)));
  };
  const isKept = record.kept !== undefined;
  const keep = async () => {
    const [act, undo] = isKept ? [client.unkeep, client.keep] : [client.keep, client.unkeep];
    const said = isKept ? `Allowed collection of ${record.name}` : `Keeping ${record.name}`;
    if (await send(() => act(id))) toast(said, () => void send(() => undo(id)));
  };
  usePageActions([
    ...(isUnderWay ? [{ name: 'Pause run', key: 'p', act: () => void pause() }] : []),
    ...(canResume ? [{ name: 'Resume run', key: 'p', act: () => void send(() => client.resume(id)) }] : []),
    ...(isOpen ? [{ name: 'Stop run', act: () => void stop() }] : []),
    ...(isOpen ? [{ name: 'Send a signal…', act: () => setAsks('signal') }] : []),
    ...(record.frames > 0 ? [{ name: `Fork from frame ${at}…`, key: 'f', act: () => setAsks('fork') }] : []),
    ...(record.frames > 0 && record.driver === 'plan'
      ? [{ name: 'Replay without models…', act: () => setAsks('replay') }]
      : []),
    { name: 'Verify record…', act: () => setAsks('verify') },
    { name: 'Export bundle', key: 'e', act: () => void exportRun() },
    { name: isKept ? 'Allow collection' : 'Keep forever', act: () => void keep() },
    { name: 'Copy run id', key: 'c', act: () => void navigator.clipboard.writeText(id) },
    { name: 'Copy link to this view', act: () => void navigator.clipboard.writeText(location.href) },
    ...(record.entry === undefined
      ? []
      : [{ name: 'Start a similar run…', act: () => void navigate({ to: '/start', search: { like: id } }) }]),
    ...(record.entry === undefined || template === ''
      ? []
      : [
          {
            name: 'Open plan in editor',
            act: () => location.assign(editorUrl(template, { file: record.entry ?? '', line: 1, column: 1 })),
          },
        ]),
    ...(isOpen && dangerous === 'ask' ? [{ name: 'Terminate run…', act: () => setAsks('terminate') }] : []),
  ]);
  return (
    <div className="levers">
      {isUnderWay && (
        <button type="button" className="button" disabled={isBusy} onClick={pause}>
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
        <button type="button" className="button button-danger" disabled={isBusy} onClick={stop}>
          Stop
        </button>
      )}
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger ref={button} className="button" aria-label="More actions">
          More <span aria-hidden="true">▾</span>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            className="menu"
            align="end"
            sideOffset={4}
            onCloseAutoFocus={event => {
              if (next.current === undefined) return;
              event.preventDefault();
              button.current?.focus();
              setAsks(next.current);
              next.current = undefined;
            }}
          >
            {isOpen && (
              <Item onSelect={ask('signal')} about="Tell the plan that something happened">
                Send a signal…
              </Item>
            )}
            {record.entry !== undefined && (
              <Item onSelect={() => void navigate({ to: '/start', search: { like: id } })}>Start a similar run…</Item>
            )}
            {record.driver === 'plan' && (
              <Item
                onSelect={() => void navigate({ to: '/compare', search: { b: id } })}
                about="With the run that it was forked from, or the run of the same plan before it"
              >
                Compare with previous run
              </Item>
            )}
            <DropdownMenu.Label className="menu-label">Try it again</DropdownMenu.Label>
            {canResume && record.driver === 'plan' && record.entry !== undefined && (
              <Item
                onSelect={() => void send(() => client.resume(id, { useCurrent: true }))}
                about="For a corrected plan: its failed tasks start again, unless they have effects outside"
              >
                Resume with current plan files
              </Item>
            )}
            {record.frames > 0 && (
              <Item onSelect={ask('fork')} about="A new run continues from there; this one does not change">
                Fork from frame {at}…
              </Item>
            )}
            {record.frames > 0 && record.driver === 'plan' && (
              <Item onSelect={ask('replay')} about="Checks that every frame renders again as recorded">
                Replay without models…
              </Item>
            )}
            <DropdownMenu.Label className="menu-label">Record</DropdownMenu.Label>
            <Item onSelect={ask('verify')} about="Checks whether anything was changed">
              Verify record…
            </Item>
            <Item onSelect={() => void exportRun()} about="Everything in one file, to open elsewhere">
              Export bundle
            </Item>
            <Item onSelect={() => void keep()}>{isKept ? 'Allow collection' : 'Keep forever'}</Item>
            <Item onSelect={() => void navigator.clipboard.writeText(location.href)}>Copy link to this view</Item>
            {isOpen && dangerous === 'ask' && (
              <>
                <DropdownMenu.Separator className="menu-line" />
                <DropdownMenu.Item className="menu-item menu-danger" onSelect={ask('terminate')}>
                  Terminate…
                </DropdownMenu.Item>
              </>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {asks === 'signal' && <SignalDialog run={id} onClose={() => setAsks(undefined)} />}
      {asks === 'fork' && (
        <ForkDialog
          run={id}
          title={`Fork from frame ${at}`}
          frame={at}
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
            It ends at once, without waiting for running work, which may be left half done. <em>Stop</em> also ends it,
            and lets running work clean up.
          </p>
        </Confirm>
      )}
      {error !== undefined && <ErrorBox error={error} title="Action failed" />}
    </div>
  );
}

interface ItemProps {
  /** What it is for, if its name does not say it. */
  readonly about?: string;
  onSelect(): void;
  readonly children: ReactNode;
}

function Item({ about, onSelect, children }: ItemProps) {
  return (
    <DropdownMenu.Item className="menu-item" onSelect={onSelect} title={about}>
      {children}
    </DropdownMenu.Item>
  );
}
