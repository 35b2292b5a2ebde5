import { editorUrl, type RunSummary } from '@signalbox/model';
import { useNavigate } from '@tanstack/react-router';
import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useSettings } from '../settings/settings.ts';
import { Confirm } from '../shell/confirm.tsx';
import { ErrorBox } from '../shell/notices.tsx';
import { offered, usePageActions } from '../shell/page-actions.ts';
import { saveFile } from '../shell/save-file.ts';
import { useEditor } from '../shell/thrown-code.tsx';
import { toast } from '../shell/toasts.tsx';
import { useCommand } from '../shell/use-command.ts';
import { ReplayDialog, VerifyDialog } from './check-dialog.tsx';
import { ForkDialog } from './fork-dialog.tsx';
import { runWords as words } from './run-words.ts';
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
    if (done) toast(words.paused(record.name), () => void send(() => client.resume(id)));
  };
  const stop = async () => {
    if (await send(() => client.stop(id))) toast(words.stopped(record.name), () => void send(() => client.resume(id)));
  };
  const startAgain = () => void navigate({ to: '/start', search: { like: id } });
  const compare = () => void navigate({ to: '/compare', search: { b: id } });
  const canUseCurrent = canResume && record.driver === 'plan' && record.entry !== undefined;
  const resumeCurrent = () => send(() => client.resume(id, { useCurrent: true }));
  const isKept = record.kept !== undefined;
  const keep = async () => {
    const [act, undo] = isKept ? [client.unkeep, client.keep] : [client.keep, client.unkeep];
    const said = isKept ? words.released(record.name) : words.kept(record.name);
    if (await send(() => act(id))) toast(said, () => void send(() => undo(id)));
  };
  usePageActions([
    ...(isUnderWay ? [{ name: words.pauseRun, key: 'p', act: () => void pause() }] : []),
    ...(canResume ? [{ name: words.resumeRun, key: 'p', act: () => void send(() => client.resume(id)) }] : []),
    ...(isOpen ? [{ name: words.stopRun, act: () => void stop() }] : []),
    ...(isOpen ? [{ name: words.signal, act: () => setAsks('signal') }] : []),
    ...(record.frames > 0 ? [{ name: words.fork(at), key: 'f', act: () => setAsks('fork') }] : []),
    ...(record.frames > 0 && record.driver === 'plan' ? [{ name: words.replay, act: () => setAsks('replay') }] : []),
    { name: words.verify, act: () => setAsks('verify') },
    { name: words.exportBundle, key: 'e', act: () => void exportRun() },
    { name: isKept ? words.release : words.keep, act: () => void keep() },
    { name: words.copyId, key: 'c', act: () => void navigator.clipboard.writeText(id) },
    { name: words.copyLink, key: 'l', act: () => void navigator.clipboard.writeText(location.href) },
    ...(record.entry === undefined ? [] : [{ name: words.again, key: 's', act: startAgain }]),
    ...(record.driver === 'plan' ? [{ name: words.compare, key: 'v', act: compare }] : []),
    ...(canUseCurrent ? [{ name: words.useCurrent, act: () => void resumeCurrent() }] : []),
    ...(record.entry === undefined || template === ''
      ? []
      : [
          {
            name: words.editor,
            act: () => location.assign(editorUrl(template, { file: record.entry ?? '', line: 1, column: 1 })),
          },
        ]),
    ...(isOpen && dangerous === 'ask' ? [{ name: words.terminateRun, act: () => setAsks('terminate') }] : []),
  ]);
  return (
    <div className="levers" {...offered}>
      {frame !== undefined && (
        <button type="button" className="button button-main" onClick={() => setAsks('fork')}>
          {words.fork(at)}
        </button>
      )}
      {isUnderWay && (
        <button type="button" className="button" disabled={isBusy} onClick={pause}>
          {words.pause}
        </button>
      )}
      {canResume && (
        <button
          type="button"
          className={`button ${frame === undefined ? 'button-main' : ''}`}
          disabled={isBusy}
          onClick={() => send(() => client.resume(id))}
        >
          {words.resume}
        </button>
      )}
      {isOpen && (
        <button type="button" className="button button-danger" disabled={isBusy} onClick={stop}>
          {words.stop}
        </button>
      )}
      {!isOpen && record.entry !== undefined && (
        <button type="button" className="button" title={words.againDoes} onClick={startAgain}>
          {words.again}
        </button>
      )}
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger ref={button} className="button" aria-label={words.moreLabel}>
          {words.more} <span className="chevron" aria-hidden="true" />
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
              <Item onSelect={ask('signal')} about={words.signalDoes}>
                {words.signal}
              </Item>
            )}
            {record.entry !== undefined && (
              <Item onSelect={startAgain} about={words.againDoes}>
                {words.again}
              </Item>
            )}
            {record.driver === 'plan' && (
              <Item onSelect={compare} about={words.compareDoes}>
                {words.compare}
              </Item>
            )}
            <DropdownMenu.Label className="menu-label">{words.groups.again}</DropdownMenu.Label>
            {canUseCurrent && (
              <Item onSelect={() => void resumeCurrent()} about={words.useCurrentDoes}>
                {words.useCurrent}
              </Item>
            )}
            {record.frames > 0 && (
              <Item onSelect={ask('fork')} about={words.forkDoes}>
                {words.fork(at)}
              </Item>
            )}
            {record.frames > 0 && record.driver === 'plan' && (
              <Item onSelect={ask('replay')} about={words.replayDoes}>
                {words.replay}
              </Item>
            )}
            <DropdownMenu.Label className="menu-label">{words.groups.record}</DropdownMenu.Label>
            <Item onSelect={ask('verify')} about={words.verifyDoes}>
              {words.verify}
            </Item>
            <Item onSelect={() => void exportRun()} about={words.exportDoes}>
              {words.exportBundle}
            </Item>
            <Item onSelect={() => void keep()}>{isKept ? words.release : words.keep}</Item>
            <Item onSelect={() => void navigator.clipboard.writeText(location.href)}>{words.copyLink}</Item>
            {isOpen && dangerous === 'ask' && (
              <>
                <DropdownMenu.Separator className="menu-line" />
                <DropdownMenu.Item className="menu-item menu-danger" onSelect={ask('terminate')}>
                  {words.terminate}
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
          title={words.forkTitle(at)}
          frame={at}
          fork={options => client.fork(id, { frame: at, ...options })}
          onClose={() => setAsks(undefined)}
        />
      )}
      {asks === 'verify' && <VerifyDialog record={record} onClose={() => setAsks(undefined)} />}
      {asks === 'replay' && <ReplayDialog record={record} onClose={() => setAsks(undefined)} />}
      {asks === 'terminate' && (
        <Confirm
          title={words.terminateTitle(record.name)}
          word={words.terminateWord}
          onConfirm={() => send(() => client.terminate(id))}
          onClose={() => setAsks(undefined)}
        >
          <p>{words.terminateDoes}</p>
        </Confirm>
      )}
      {error !== undefined && <ErrorBox error={error} title={words.actionFailed} />}
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
