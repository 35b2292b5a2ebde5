import type { Json } from '@signalbox/model';
import { lazy, type ReactNode, Suspense } from 'react';
import { JsonView } from '../shell/json-view.tsx';
import { toolKindWords } from '../story/tool-call.ts';
import { lasted } from '../story/words.ts';
import type { ToolUse } from './tool-use.ts';

const TextChanges = lazy(() => import('./text-changes.tsx').then(({ TextChanges: one }) => ({ default: one })));

interface ToolCardProps {
  readonly use: ToolUse;
  /** Whether its attempt is over: then a call without an outcome was cut off. */
  readonly isOver: boolean;
  /** Whether its changes were undone. */
  readonly isUndone?: boolean;
  /** The actions for it. */
  readonly children?: ReactNode;
}

/** A tool call: its title, kind, paths, changes, arguments, outcome and duration. */
export function ToolCard({ use, isOver, isUndone = false, children }: ToolCardProps) {
  const { tool, title, kind, input, output, ms, approval, locations = [], changes = [] } = use;
  const outcome = outcomeOf(use, isOver);
  const hasInput = !(typeof input === 'object' && input !== null && Object.keys(input).length === 0);
  return (
    <details>
      <summary>
        <span className={`tool-mark tool-${markOf(use, isOver)}`} aria-hidden="true" />
        {title === undefined ? <code>{tool}</code> : <span className="truncate font-medium">{title}</span>}
        {kind !== undefined && <span className="kind">{toolKindWords(kind)}</span>}
        <span className="truncate text-muted">{title === undefined ? lineOf(input) : locations.join(', ')}</span>
        <span className="mono text-faint">
          {isUndone
            ? 'undone'
            : ms === undefined
              ? outcome
              : `${outcome === 'succeeded' ? '' : `${outcome}, `}${lasted(ms)}`}
        </span>
      </summary>
      <p className="text-muted">
        {title !== undefined && (
          <>
            <code>{tool}</code>{' '}
          </>
        )}
        {outcome}
        {approval !== undefined && `, a person said ${approval}`}
      </p>
      {locations.length > 0 && (
        <p className="places">
          {locations.map(place => (
            <code key={place}>{place}</code>
          ))}
        </p>
      )}
      {changes.length > 0 && (
        <Suspense fallback={null}>
          <TextChanges changes={changes} />
        </Suspense>
      )}
      {hasInput && <JsonView value={input} />}
      {output !== undefined && <JsonView value={wordsOf(output)} />}
      {children}
    </details>
  );
}

/** The outcome of a call in a word or two. */
export function outcomeOf({ status, isAsking = false }: ToolUse, isOver: boolean): string {
  if (status !== undefined) return status;
  if (isOver) return 'cut off';
  return isAsking ? 'waits for an answer' : 'running';
}

function markOf({ status, isAsking = false }: ToolUse, isOver: boolean): string {
  return status ?? (isOver ? 'unknown' : isAsking ? 'asking' : 'open');
}

/** A result of text alone is shown as text. */
function wordsOf(output: Json): Json {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  const [name, ...others] = Object.keys(output);
  const { text } = output as { readonly text?: Json };
  return name === 'text' && others.length === 0 && typeof text === 'string' ? text : output;
}

function lineOf(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
