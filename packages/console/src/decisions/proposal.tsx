import { lazy, Suspense } from 'react';
import type { Question } from '../story/question.ts';

const SideBySide = lazy(() => import('./side-by-side.tsx').then(({ SideBySide: one }) => ({ default: one })));

/** Everything that a decision is about: the text, the exact command, the change side by side, and every argument. */
export function Proposal({ question }: { readonly question: Question }) {
  const { words, command, change, shown, risk } = question;
  return (
    <div className="proposal">
      {words !== undefined && <p className="whitespace-pre-wrap">{words}</p>}
      {risk === 'high' && <p className="risk">Marked as high risk.</p>}
      {command !== undefined && (
        <pre className="command">
          <span aria-hidden="true">$ </span>
          {command}
        </pre>
      )}
      {change !== undefined && (
        <figure className="change">
          <figcaption>
            <code>{change.path}</code>
            {change.before === '' && <span className="text-muted"> with this as its entire content</span>}
          </figcaption>
          {change.before === '' ? (
            <pre className="code value-new">{change.after}</pre>
          ) : (
            <Suspense fallback={<pre className="code">{change.after}</pre>}>
              <SideBySide before={change.before} after={change.after} />
            </Suspense>
          )}
        </figure>
      )}
      {shown.length > 0 && (
        <dl className="args">
          {shown.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <pre>{value}</pre>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
