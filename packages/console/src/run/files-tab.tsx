import type { RunId } from '@signalbox/model';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { many } from '../story/words.ts';
import { Patch } from './patch.tsx';
import { patchFiles } from './patch-files.ts';

interface FilesTabProps {
  readonly run: RunId;
  /** The frame that is looked back at. */
  readonly frame: number | undefined;
  /** Changes when there may be more. */
  readonly version: string;
}

const words = { added: 'new', removed: 'gone', changed: 'changed' } as const;

/** What the run changed in its workspace, up to the frame that is looked at. */
export function FilesTab({ run, frame, version }: FilesTabProps) {
  const client = useClient();
  const { data, error } = useRead(['diff', run, frame ?? version], () => client.diff(run, frame), { keeps: true });
  if (error?.code === 'workspace/none') {
    return (
      <Empty title="This run has no workspace of its own">
        <p>
          What its agents change in the project is with each node, under Tools. A plan with <code>workspace: true</code>{' '}
          works on a copy, and all that it changed is told here.
        </p>
      </Empty>
    );
  }
  if (error !== null && data === undefined) return <ErrorBox error={error} title="There is no diff of files" />;
  if (data === undefined) return <Empty title="Reading…" />;
  if (data.files.length === 0) return <Empty title="It changed no files of its workspace" />;
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
          <Patch lines={patches.get(path) ?? []} />
        </section>
      ))}
    </div>
  );
}
