import type { RunId } from '@signalbox/model';
import { type FormEvent, type KeyboardEvent, useId, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { ErrorBox } from '../shell/notices.tsx';
import { useCommand } from '../shell/use-command.ts';
import { words } from './words.ts';

interface ComposeBoxProps {
  readonly run: RunId;
  readonly node: string;
  /** Called once the message is queued. */
  onQueued(): void;
}

/** Queues text for the agent's next turn. */
export function ComposeBox({ run, node, onQueued }: ComposeBoxProps) {
  const client = useClient();
  const { isBusy, error, send } = useCommand();
  const [text, setText] = useState('');
  const hint = useId();
  const queue = async (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '' || isBusy) return;
    if (!(await send(() => client.chat(run, { node, text })))) return;
    setText('');
    onQueued();
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) void queue(event);
  };
  return (
    <div className="compose">
      <form onSubmit={queue}>
        <textarea
          aria-label={words.compose.label}
          aria-describedby={hint}
          placeholder={words.compose.placeholder}
          rows={1}
          maxLength={20_000}
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={press}
        />
        <button type="submit" className="button" disabled={isBusy || text.trim() === ''}>
          {words.compose.send}
        </button>
      </form>
      <p id={hint} className="compose-hint">
        {words.compose.hint}
      </p>
      {error !== undefined && <ErrorBox error={error} title={words.compose.failed} />}
    </div>
  );
}
