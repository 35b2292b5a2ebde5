import { shortId } from '@signalbox/app';
import type { ListedRun } from '@signalbox/app/all-runs';
import { isInterrupted } from '@signalbox/app/host';
import { fitted, widthOf } from '../live/text-width.ts';
import { type Paint, shown } from '../terminal.ts';

/** A run in a list, and what it waits for. */
export interface ListedRow {
  readonly run: ListedRun;
  readonly until: string | undefined;
  readonly openDecisions: number;
}

interface TableStyle {
  readonly now: number;
  readonly width: number;
  readonly paint: Paint;
}

const GAP = '  ';
/** A name is cut before what a run waits for is left out. */
const LEAST_NAME = 12;

/** Runs as lines of a table that is no wider than the terminal: status, short id, name, age, and what to know. */
export function runTable(rows: readonly ListedRow[], { now, width, paint }: TableStyle): readonly string[] {
  const cells = rows.map(row => cellsOf(row, now));
  const widest = (column: keyof Cells) => Math.max(...cells.map(cell => widthOf(cell[column])));
  const [status, id, age, note] = [widest('status'), widest('id'), widest('age'), widest('note')];
  const left = width - (2 + status + id + age + 3 * GAP.length);
  const forNotes = note === 0 ? 0 : Math.max(0, Math.min(note + GAP.length, left - LEAST_NAME));
  const name = Math.max(1, Math.min(widest('name'), left - forNotes));
  const noteWidth = Math.max(0, left - name - GAP.length);
  return cells.map(cell => {
    const tint = tintOf(cell.status, paint);
    const start = `${tint(markOf(cell.status))} ${tint(padded(cell.status, status))}${GAP}${cell.id}${GAP}${paint.strong(padded(fitted(cell.name, name), name))}`;
    const end = cell.note === '' || noteWidth === 0 ? '' : `${GAP}${fitted(cell.note, noteWidth)}`;
    return `${start}${GAP}${paint.faint(padded(cell.age, end === '' ? 0 : age))}${end}`;
  });
}

interface Cells {
  readonly status: string;
  readonly id: string;
  readonly name: string;
  readonly age: string;
  readonly note: string;
}

function cellsOf({ run, until, openDecisions }: ListedRow, now: number): Cells {
  const { record } = run;
  const base = {
    id: shortId(record.id),
    name: shown(record.name),
    age: describeAge(now - Date.parse(record.createdAt)),
  };
  if (run.kind !== 'plan') {
    const step = run.guided?.pendingStep;
    return { ...base, status: record.status, note: `guided${step ? `, at ${shown(step.title)}` : ''}` };
  }
  const { status, tags, stopReason, error } = run.record;
  const isCutOff = isInterrupted(run.record);
  const notes = [
    ...(openDecisions > 0 ? ['asks you'] : []),
    ...(until === undefined ? [] : [`until ${until}`]),
    ...(isCutOff ? ['its process ended'] : []),
    ...(status === 'failed' && error !== undefined ? [firstLine(error.message)] : []),
    ...((status === 'stopped' || status === 'paused') && !isCutOff && stopReason !== undefined ? [stopReason] : []),
    ...tags.map(tag => `#${tag}`),
  ];
  return { ...base, status: isCutOff ? 'interrupted' : status, note: shown(notes.join(' · ')) };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function markOf(status: string): string {
  if (status === 'completed' || status === 'complete' || status === 'complete_with_gaps') return '✓';
  if (status === 'failed' || status === 'stalled' || status === 'stopped') return '✗';
  return status === 'running' || status === 'in_progress' ? '▶' : '…';
}

function tintOf(status: string, paint: Paint): (text: string) => string {
  const mark = markOf(status);
  if (mark === '✓') return paint.good;
  return mark === '✗' ? paint.bad : paint.doubtful;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in one unit. */
export function describeAge(ms: number): string {
  if (ms < 5000) return 'now';
  if (ms < MINUTE) return `${Math.floor(ms / 1000)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  return ms < 2 * DAY ? `${Math.floor(ms / HOUR)} h ago` : `${Math.floor(ms / DAY)} d ago`;
}
