import type { WireArtifact } from '@signalbox/model';
import { Suspense, useEffect, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { lazyPart } from '../shell/lazy-part.ts';
import { Moment } from '../shell/moment.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { saveFile } from '../shell/save-file.ts';
import { many } from '../story/words.ts';
import { shownOf } from './artifact-content.ts';
import { ArtifactTable } from './artifact-table.tsx';
import { ArtifactVersions } from './artifact-versions.tsx';

const Prose = lazyPart(() => import('../shell/prose.tsx').then(({ Prose: component }) => ({ default: component })));

/** Displays an artifact. Content that is not known to be safe can only be saved. */
export function ArtifactView({ artifact: newest }: { readonly artifact: WireArtifact }) {
  const client = useClient();
  const [chosen, setChosen] = useState<WireArtifact>();
  const artifact = chosen ?? newest;
  const { id, name, kind, key, version, bytes, createdAt } = artifact;
  const { data, error } = useRead(['artifact', id], () => client.artifactContent(id), { keeps: true });
  return (
    <article className="artifact" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span className="kind">{kind}</span>
        {key !== undefined && (
          <span className="text-muted">
            {key}, version {version}
          </span>
        )}
        <span className="mono text-faint">{many(bytes, 'byte')}</span>
        <Moment at={createdAt} className="text-faint" />
        <ArtifactVersions artifact={newest} chosen={chosen} onChosen={setChosen} />
        {data !== undefined && (
          <button
            type="button"
            className="button button-small"
            onClick={() => saveFile(name, data, 'application/octet-stream')}
          >
            Save
          </button>
        )}
      </header>
      {error !== null && <ErrorBox error={error} title="Could not load the artifact" />}
      {data === undefined ? (
        error === null && <Empty title="Loading…" />
      ) : (
        <Content artifact={artifact} content={data} />
      )}
    </article>
  );
}

interface ContentProps {
  readonly artifact: WireArtifact;
  readonly content: Uint8Array;
}

function Content({ artifact, content }: ContentProps) {
  const shown = shownOf(artifact, content);
  switch (shown.kind) {
    case 'markdown':
      return (
        <Suspense fallback={<pre className="code">{shown.text}</pre>}>
          <Prose text={shown.text} />
        </Suspense>
      );
    case 'table':
      return <ArtifactTable columns={shown.columns} rows={shown.rows} />;
    case 'progress':
      return (
        <p className="progress">
          <progress value={shown.current} max={shown.total} aria-label={artifact.name} />
          {shown.current} of {shown.total} {shown.label}
        </p>
      );
    case 'link':
      return (
        <p className="px-3 py-2">
          <a href={shown.url} target="_blank" rel="noreferrer noopener">
            {shown.label}
          </a>{' '}
          <span className="mono text-faint">{shown.url}</span>
        </p>
      );
    case 'image':
      return <Picture content={content} type={artifact.mimeType} alt={artifact.alt ?? artifact.name} />;
    case 'text':
      return <pre className="code">{shown.text}</pre>;
    case 'bytes':
      return <Empty title="No preview: save the file to view it" />;
  }
}

/** Drawn, not linked: the page may load nothing without the token. */
function Picture({
  content,
  type,
  alt,
}: {
  readonly content: Uint8Array;
  readonly type: string;
  readonly alt: string;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setIsBroken] = useState(false);
  useEffect(() => {
    let isOver = false;
    void createImageBitmap(new Blob([new Uint8Array(content)], { type })).then(
      picture => {
        setIsBroken(false);
        const shown = canvas.current;
        if (isOver || shown === null) return;
        shown.width = picture.width;
        shown.height = picture.height;
        shown.getContext('2d')?.drawImage(picture, 0, 0);
      },
      () => isOver || setIsBroken(true),
    );
    return () => {
      isOver = true;
    };
  }, [content, type]);
  return (
    <>
      {isBroken && <Empty title="This picture cannot be displayed: save it to view it" />}
      <canvas ref={canvas} hidden={isBroken} className="picture" role="img" aria-label={alt} />
    </>
  );
}
