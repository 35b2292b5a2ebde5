import type { Json, RunId, WireCheckpoint } from '@signalbox/model';
import { type ReactNode, Suspense, useState } from 'react';
import { CallLevers } from '../inspector/call-levers.tsx';
import { markOf, outcomeOf, type ToolUse } from '../inspector/tool-use.ts';
import { lazyPart } from '../shell/lazy-part.ts';
import { exactText } from '../story/exact-text.ts';
import { toolKindWords } from '../story/tool-call.ts';
import { lasted } from '../story/words.ts';
import { callWords, resultWords } from './call-words.ts';
import { words } from './words.ts';

const TextChanges = lazyPart(() =>
  import('../inspector/text-changes.tsx').then(({ TextChanges: one }) => ({ default: one })),
);

interface CallCardProps {
  readonly run: RunId;
  readonly use: ToolUse;
  /** Whether its attempt is over: then a call without an outcome was cut off. */
  readonly isOver: boolean;
  readonly checkpoint?: WireCheckpoint | undefined;
  onUndone(): void;
  /** The questions about it. */
  readonly children?: ReactNode;
}

/** A tool call: what it does in words, its change, its result, how long it took, and how to undo it. */
export function CallCard({ run, use, isOver, checkpoint, onUndone, children }: CallCardProps) {
  const { tool, title, kind, input, output, ms, approval, locations = [], changes = [], notAlone } = use;
  const { does, target, args, change } = callWords(tool, input, title);
  const outcome = outcomeOf(use, isOver);
  const shown = changes.length > 0 ? changes : change === undefined ? [] : [change];
  const isUndone = checkpoint?.undone === true;
  const places = locations.filter(place => place !== target && !does.includes(place));
  const told = args.filter(([, value]) => !does.includes(value));
  const time = ms === undefined ? undefined : lasted(ms);
  return (
    <article className="call" aria-label={target === undefined ? does : `${does} ${target}`}>
      <header className="call-head">
        <span className={`tool-mark tool-${markOf(use, isOver)}`} aria-hidden="true" />
        <span className="call-words">
          <strong>{exactText(does)}</strong> {target !== undefined && <code>{exactText(target)}</code>}
        </span>
        {kind !== undefined && <span className="kind">{toolKindWords(kind)}</span>}
        <span className="call-outcome">
          {isUndone ? words.call.undone : outcome}
          {time !== undefined && ` · ${time}`}
        </span>
      </header>
      {approval !== undefined && <p className="call-note">{words.call.person(approval)}</p>}
      {places.length > 0 && (
        <p className="places call-note">
          {places.map(place => (
            <code key={place}>{place}</code>
          ))}
        </p>
      )}
      {children}
      {children === undefined && shown.length > 0 && (
        <div className="call-changes">
          <Suspense fallback={null}>
            <TextChanges changes={shown} />
          </Suspense>
        </div>
      )}
      {children === undefined && told.length > 0 && <Facts facts={told} />}
      {output !== undefined && output !== null && <Result output={output} isFailed={outcome !== 'succeeded'} />}
      {notAlone !== undefined && <p className="call-note">{words.call.notAlone(notAlone)}</p>}
      {checkpoint !== undefined && <CallLevers run={run} use={use} checkpoint={checkpoint} onUndone={onUndone} />}
    </article>
  );
}

function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl className="call-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const LINES_SHOWN = 6;
const FAILED_LINES_SHOWN = 30;
const LONGEST = 200_000;

function Result({ output, isFailed }: { readonly output: Json; readonly isFailed: boolean }) {
  const [isWhole, setIsWhole] = useState(false);
  const { text, facts } = resultWords(output);
  const lines = text?.slice(0, LONGEST).split('\n') ?? [];
  const most = isFailed ? FAILED_LINES_SHOWN : LINES_SHOWN;
  const isLong = lines.length > most;
  return (
    <>
      {text !== undefined && (
        <pre className={`call-result ${isFailed ? 'call-failed' : ''}`}>
          {(isWhole ? lines : lines.slice(0, most)).join('\n')}
        </pre>
      )}
      {isLong && (
        <button type="button" className="button button-quiet button-small" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? words.call.less : words.call.more(lines.length)}
        </button>
      )}
      {facts.length > 0 && <Facts facts={facts} />}
    </>
  );
}
