import type { Answer, Client } from '@signalbox/client';
import type { ErrorEnvelope, Json, ReplayedRow, ReplayReport, RunId, RunSummary } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { Dialog } from '../shell/dialog.tsx';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { type CheckWords, replayWords, verifyWords } from './check-words.ts';

interface CheckDialogProps {
  readonly record: RunSummary['record'];
  onClose(): void;
}

/** Checks that the record of a run is what was written, and says what it found. */
export function VerifyDialog({ record, onClose }: CheckDialogProps) {
  const { data, error } = useCheck(record.id, verify);
  return (
    <Dialog title={`Verify ${record.name}`} onClose={onClose}>
      <Report words={data && verifyWords(data)} error={error} title="It could not be checked" />
      <Foot onClose={onClose} />
    </Dialog>
  );
}

/** Makes every frame of a run again from what was recorded, with models and tools off, and shows the first difference. */
export function ReplayDialog({ record, onClose }: CheckDialogProps) {
  const { data, error } = useCheck(record.id, replay);
  return (
    <Dialog title={`Replay ${record.name}`} className="dialog-wide" onClose={onClose}>
      <Report words={data && replayWords(data)} error={error} title="It could not be replayed" />
      {data !== undefined && <Difference report={data} onClose={onClose} />}
      <Foot onClose={onClose} />
    </Dialog>
  );
}

interface Checked<T> {
  readonly data?: T;
  readonly error?: ErrorEnvelope;
}

/** Made once, when the dialog is opened: what is checked may have been touched since it was last. */
function useCheck<T>(run: RunId, check: (client: Client, run: RunId) => Answer<T>): Checked<T> {
  const client = useClient();
  const [checked, setChecked] = useState<Checked<T>>({});
  useEffect(() => {
    let isOver = false;
    void check(client, run).then(answer => {
      if (!isOver) setChecked(answer.ok ? { data: answer.value } : { error: answer.error });
    });
    return () => {
      isOver = true;
    };
  }, [check, client, run]);
  return checked;
}

const verify = (client: Client, run: RunId) => client.verify(run);
const replay = (client: Client, run: RunId) => client.replay(run);

interface ReportProps {
  readonly words: CheckWords | undefined;
  readonly error: ErrorEnvelope | undefined;
  readonly title: string;
}

function Report({ words, error, title }: ReportProps) {
  if (error !== undefined) return <ErrorBox error={error} title={title} />;
  if (words === undefined) return <Empty title="Checking…" />;
  return (
    <div className="report" data-sound={words.isSound}>
      <p role="status" className="report-verdict">
        {words.verdict}
      </p>
      <ul className="text-muted">
        {words.details.map(line => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

/** The first frame that came out otherwise, row by row. */
function Difference({ report, onClose }: { readonly report: ReplayReport; onClose(): void }) {
  const differs = report.runs.find(({ difference }) => difference !== undefined);
  if (differs?.difference === undefined) return null;
  const { frame, rows, source } = differs.difference;
  return (
    <section aria-label="The first difference" className="flex flex-col gap-2">
      <p>
        <Link to="/runs/$run" params={{ run: differs.run }} search={{ frame }} onClick={onClose}>
          Look at frame {frame}
        </Link>
        {source !== undefined && <code className="text-faint"> {placeOf(source)}</code>}
      </p>
      {rows.length > 0 && (
        <table className="state">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Recorded, and replayed</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <Row key={`${row.space} ${row.key}`} row={row} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ row: { space, key, recorded, replayed, leftOut, writtenBy, source } }: { readonly row: ReplayedRow }) {
  return (
    <tr data-change="changed">
      <th scope="row">
        {space} {key}
        {writtenBy !== undefined && <span className="text-faint"> written by {writtenBy}</span>}
        {source !== undefined && <code className="text-faint"> {placeOf(source)}</code>}
      </th>
      <td>
        <pre className="value-old">
          <del>{valueWords(recorded, leftOut?.recorded)}</del>
        </pre>
        <pre className="value-new">
          <ins>{valueWords(replayed, leftOut?.replayed)}</ins>
        </pre>
      </td>
    </tr>
  );
}

function valueWords(value: Json | undefined, leftOut: number | undefined): string {
  if (leftOut !== undefined) return `${leftOut} bytes`;
  return value === undefined ? 'not there' : JSON.stringify(value, null, 1);
}

function placeOf({ file, line, column }: NonNullable<ReplayedRow['source']>): string {
  return `${file}:${line}:${column}`;
}

function Foot({ onClose }: { onClose(): void }) {
  return (
    <div className="dialog-foot">
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}
