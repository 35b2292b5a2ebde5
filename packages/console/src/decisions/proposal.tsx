import { Suspense } from 'react';
import { fileChanges } from '../inspector/file-changes.ts';
import { SplitPatch } from '../run/split-patch.tsx';
import { Exact } from '../shell/exact.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { exactText } from '../story/exact-text.ts';
import type { Held } from '../story/held.ts';
import type { Question } from '../story/question.ts';
import { type TextChange, toolKindWords } from '../story/tool-call.ts';
import { many } from '../story/words.ts';

const SideBySide = lazyPart(() => import('./side-by-side.tsx').then(({ SideBySide: one }) => ({ default: one })));

/** Everything that a decision is about: the text, the exact command, the changes side by side, and every argument. */
export function Proposal({ question }: { readonly question: Question }) {
  const { words, command, changes, shown, risk, held, missing } = question;
  return (
    <div className="proposal">
      {words !== undefined && <p className="whitespace-pre-wrap">{words}</p>}
      <Asker question={question} />
      {risk === 'high' && <p className="risk">Marked as high risk.</p>}
      {command !== undefined && (
        <pre className="command">
          <span aria-hidden="true">$ </span>
          <Exact>{command}</Exact>
        </pre>
      )}
      {changes.map((change, index) => (
        <Change key={`${index} ${change.path}`} change={change} />
      ))}
      {missing !== undefined && <p className="missing">{missing}</p>}
      {held !== undefined && <HeldChanges held={held} />}
      {shown.length > 0 && (
        <dl className="args">
          {shown.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <pre>
                  <Exact>{value}</Exact>
                </pre>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** What the agent of another vendor says about its call. */
function Asker({ question: { agent, title, toolKind, locations } }: { readonly question: Question }) {
  if (agent === undefined && title === undefined && locations.length === 0) return null;
  return (
    <dl className="asker">
      {agent !== undefined && (
        <div>
          <dt>Agent</dt>
          <dd>
            {agent.title} {agent.version !== undefined && <span className="text-muted">{agent.version}</span>}
          </dd>
        </div>
      )}
      {title !== undefined && (
        <div>
          <dt>Call</dt>
          <dd>
            <Exact>{title}</Exact> {toolKind !== undefined && <span className="kind">{toolKindWords(toolKind)}</span>}
          </dd>
        </div>
      )}
      {locations.length > 0 && (
        <div>
          <dt>{locations.length === 1 ? 'Path' : 'Paths'}</dt>
          <dd>
            {locations.map(place => (
              <code key={place}>
                <Exact>{place}</Exact>
              </code>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}

function Change({ change: { path, before, after } }: { readonly change: TextChange }) {
  return (
    <figure className="change">
      <figcaption>
        <code>
          <Exact>{path}</Exact>
        </code>
        {before === '' && <span className="text-muted"> with this as its entire content</span>}
      </figcaption>
      {before === '' ? (
        <pre className="code value-new">
          <Exact>{after}</Exact>
        </pre>
      ) : (
        <Suspense fallback={<pre className="code">{after}</pre>}>
          <SideBySide before={before} after={after} />
        </Suspense>
      )}
    </figure>
  );
}

/** Changes that wait: by file, and the paths that someone else changed meanwhile. */
function HeldChanges({ held: { directory, total, paths, patch, conflicts, check } }: { readonly held: Held }) {
  const texts = new Set(fileChanges(patch ?? '').map(({ path }) => path));
  const others = paths.filter(path => !texts.has(path));
  const cut = /^… \d+ more characters$/m.exec(patch ?? '')?.[0];
  return (
    <>
      <p className="text-muted">
        {patch === undefined ? '' : `${many(total, 'file')} in `}
        <code>{directory}</code>
      </p>
      {fileChanges(patch ?? '').map(({ path, lines }, place) => (
        <section key={`${place} ${path}`} aria-label={path} className="change">
          <h4 className="change-head">
            <code>
              <Exact>{path}</Exact>
            </code>
          </h4>
          <SplitPatch lines={lines} />
        </section>
      ))}
      {check !== undefined && (
        <details className="change" open={!check.passed}>
          <summary className="change-head">
            <Lamp signal={check.passed ? 'done' : 'failed'} /> <code>{check.command}</code>{' '}
            <span className="text-muted">{check.says}</span>
          </summary>
          {check.output !== '' && <pre className="code">{check.output}</pre>}
        </details>
      )}
      {cut !== undefined && <p className="missing">The diff is cut here: {cut}.</p>}
      {others.length > 0 && (
        <p>
          Also changed, not shown as text: <code>{exactText(others.join(', '))}</code>
        </p>
      )}
      {conflicts.length > 0 && (
        <div className="table-box change">
          <table className="facts-table">
            <caption className="sr-only">Conflicting paths</caption>
            <thead>
              <tr>
                <th scope="col">Conflicting path</th>
                <th scope="col">Someone else</th>
                <th scope="col">This change</th>
              </tr>
            </thead>
            <tbody>
              {conflicts.map(({ path, theirs, ours }) => (
                <tr key={path}>
                  <th scope="row">
                    <code>{path}</code>
                  </th>
                  <td>{theirs}</td>
                  <td>{ours}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {total > conflicts.length && conflicts.length > 0 && (
        <p className="text-muted">{total - conflicts.length} more conflicting paths are not shown.</p>
      )}
    </>
  );
}
