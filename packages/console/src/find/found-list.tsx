import type { FoundThing } from '@signalbox/model';
import { Link, useNavigate } from '@tanstack/react-router';
import { Moment } from '../shell/moment.tsx';
import { useCursor } from '../shell/use-cursor.ts';
import { linkToFound } from './find-place.ts';
import { kindWords } from './find-words.ts';

/** Results with their surroundings. Texts are text, whoever wrote them. */
export function FoundList({ found }: { readonly found: readonly FoundThing[] }) {
  const navigate = useNavigate();
  const ids = found.map((_, index) => String(index));
  const cursor = useCursor(ids, id => {
    const thing = found[Number(id)];
    if (thing !== undefined) void navigate(linkToFound(thing));
  });
  return (
    <ol className="found">
      {found.map((thing, index) => (
        <li key={ids[index]} data-item={ids[index]} data-current={cursor.id === ids[index] || undefined}>
          <Link {...linkToFound(thing)} preload={false} className="found-line">
            <span className="found-kind">{kindWords[thing.kind][0]}</span>
            <span className="found-what">
              <strong className={thing.kind === 'file' ? 'mono' : undefined}>{thing.title}</strong>
              {thing.runName !== undefined && thing.runName !== thing.title && (
                <span className="text-muted">{thing.runName}</span>
              )}
              {thing.node !== undefined && thing.node !== thing.title && !/^[0-9a-f-]{16,}$/.test(thing.node) && (
                <span className="mono text-muted">{thing.node}</span>
              )}
            </span>
            <Moment at={thing.at} className="found-when text-muted" />
            <span className="found-text">
              {thing.snippet.map(({ text, hit }, part) =>
                hit ? <mark key={part}>{text}</mark> : <span key={part}>{text}</span>,
              )}
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}
