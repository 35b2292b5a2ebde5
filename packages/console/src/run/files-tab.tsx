import type { RunId } from '@signalbox/model';
import { Suspense } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { lazyPart } from '../shell/lazy-part.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { many } from '../story/words.ts';
import { patchFiles } from './patch-files.ts';
import { SplitPatch } from './split-patch.tsx';

const ChangedFiles = lazyPart(() => import('./changed-files.tsx'));

interface FilesTabProps {
  readonly run: RunId;
  /** The past frame that is shown. */
  readonly frame: number | undefined;
  /** Changes when there may be more. */
  readonly version: string;
}

const words = { added: 'new', removed: 'removed', changed: 'changed' } as const;

/** What the run changed in files up to the shown frame: everything in its workspace, and elsewhere what its tool calls changed. */
export function FilesTab({ run, frame, version }: FilesTabProps) {
  const client = useClient();
  const { data, error } = useRead(['diff', run, frame ?? version], () => client.diff(run, frame), { keeps: true });
  if (error?.code === 'workspace/none') return <CallChanges run={run} frame={frame} version={version} />;
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Could not load the file changes" />;
  if (data === undefined) return <Empty title="Loading…" />;
  if (data.files.length === 0) return <Empty title="No files changed in its workspace" />;
  const patches = patchFiles(data.patch);
  return (
    <div className="now">
      <p className="text-muted">
        {many(data.files.length, 'file')} changed from the first frame to frame {data.frame}
      </p>
      {data.files.map(({ path, change }) => (
        <section key={path} aria-label={path} className="change">
          <h3 className="change-head">
            <code>{path}</code> <span className="text-muted">{words[change]}</span>
          </h3>
          <SplitPatch lines={patches.get(path) ?? []} />
        </section>
      ))}
    </div>
  );
}

function CallChanges({ run, frame, version }: FilesTabProps) {
  const client = useClient();
  const { data, error } = useRead(
    ['changes', run, frame ?? version],
    () => client.changes(run, frame === undefined ? {} : { frame }),
    { keeps: true },
  );
  if (error !== null && data === undefined) return <ErrorBox error={error} title="Could not load the file changes" />;
  if (data === undefined) return <Empty title="Loading…" />;
  if (data.directories.length === 0 && data.unknown.length === 0) {
    return (
      <Empty title="No files changed">
        <p>Changes that its tool calls make are shown here, wherever they work. Undone calls are left out.</p>
      </Empty>
    );
  }
  return (
    <div className="now">
      <Suspense>
        <ChangedFiles {...data} />
      </Suspense>
    </div>
  );
}
