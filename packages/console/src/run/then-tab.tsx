import type { RunId } from '@signalbox/model';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty } from '../shell/notices.tsx';
import { Panel } from '../shell/panel.tsx';
import { causeWords } from '../story/cause-words.ts';
import type { FrameView } from '../story/use-frame.ts';
import { many } from '../story/words.ts';
import { StateTab } from './state-tab.tsx';
import { versionWords } from './version-words.ts';

interface ThenTabProps {
  readonly run: RunId;
  readonly frame: number;
  readonly view: FrameView;
  onCurrent(node: string): void;
}

/** A frame that is looked back at: what made it necessary, and what it changed. */
export function ThenTab({ run, frame, view, onCurrent }: ThenTabProps) {
  const client = useClient();
  const { data } = useRead(['frame', run, frame], () => client.frames(run, { from: frame, limit: 1 }), { keeps: true });
  const [read] = data?.frames ?? [];
  if (read === undefined) return <Empty title="Reading…" />;
  const { trigger, mounted, unmounted } = read;
  const cause = trigger.node === undefined ? undefined : view.tree?.find(({ id }) => id === trigger.node);
  return (
    <div className="now">
      <p className="then-words">
        Frame {read.index} was rendered because of <strong>{causeWords(trigger.kind)}</strong>
        {trigger.node !== undefined && (
          <>
            {' at '}
            <button type="button" className="linklike" onClick={() => onCurrent(trigger.node ?? '')}>
              {cause?.label ?? trigger.node}
            </button>
          </>
        )}
        {trigger.keys !== undefined && trigger.keys.length > 0 && (
          <>
            {', and '}
            <code>{trigger.keys.join(', ')}</code> had changed
          </>
        )}
        . {mounted.length > 0 && `${many(mounted.length, 'node')} came. `}
        {unmounted.length > 0 && `${many(unmounted.length, 'node')} left. `}
        {versionWords(read.planVersion)}
        {!read.verifiable && 'It read something that was not recorded: it cannot be verified.'}
      </p>
      <Panel title="State against the frame before">
        <StateTab {...view} />
      </Panel>
    </div>
  );
}
