import {
  type Disk,
  type EventSchema,
  type JournalEvent,
  MAX_PLAN_BYTES,
  manifestRecord,
  type SegmentPacking,
  zstdPacking,
} from '@signalbox/journal';
import { err } from '@signalbox/model';
import { sessionEventSchema } from '@signalbox/workflow';
import { isRunEventKind, runJournalSchema } from './run-journal/run-journal-event.ts';
import { isRecordKind, recordSchemas } from './run-journal/run-record-event.ts';

/** Journals whose events have one schema. */
export interface JournalFamily {
  readonly name: string;
  /** Whether a journal that starts with an event of this kind belongs to it. */
  owns(firstKind: unknown): boolean;
  readonly schema: EventSchema<JournalEvent>;
  /** How their segments may be compressed. */
  readonly packing?: SegmentPacking;
}

const families: readonly JournalFamily[] = [
  { name: 'log', owns: kind => isRecordKind('run', kind), schema: recordSchemas.run, packing: zstdPacking },
  { name: 'project', owns: kind => isRecordKind('project', kind), schema: recordSchemas.project, packing: zstdPacking },
  { name: 'run', owns: isRunEventKind, schema: runJournalSchema },
  { name: 'session', owns: kind => kind === 'session_created', schema: sessionEventSchema },
];

/** The family of the journal in a directory, by its first event; any family if there is none. */
export function familyOf(disk: Pick<Disk, 'read' | 'kind'>, directory: string): JournalFamily {
  const first = firstEventOf(disk, directory);
  const kind = field(first, 'kind');
  return families.find(family => first === undefined || family.owns(kind)) ?? unknownFamily(kind);
}

/** A journal of an unknown kind has no valid event. */
function unknownFamily(kind: unknown): JournalFamily {
  const known = families.map(family => family.name).join(', ');
  return {
    name: 'unknown',
    owns: () => true,
    schema: {
      version: 1,
      decode: () =>
        err(`kind: ${JSON.stringify(kind) ?? 'none'} starts no journal that is known here (known: ${known})`),
      snapshotRefs: () => [],
    },
  };
}

/** The first event that the manifest attests, unchecked; undefined if there is none. */
function firstEventOf(disk: Pick<Disk, 'read' | 'kind'>, directory: string): unknown {
  const record = manifestRecord.safeParse(firstLineOf(disk, `${directory}/manifest.jsonl`)).data;
  if (record?.kind !== 'segment_closed' || !/^events\/\d+-\d+\.jsonl$/.test(record.segmentRelPath)) return undefined;
  if (disk.kind(`${directory}/events`) !== 'directory') return undefined;
  const file = `${directory}/${record.segmentRelPath}`;
  const packed = disk.read(`${file}${zstdPacking.suffix}`);
  if (packed === 'missing') return firstLineOf(disk, file);
  return typeof packed === 'object' ? firstLineIn(zstdPacking.unpack(packed, MAX_PLAN_BYTES)) : undefined;
}

function firstLineOf(disk: Pick<Disk, 'read'>, file: string): unknown {
  const bytes = disk.read(file);
  return typeof bytes === 'object' ? firstLineIn(bytes) : undefined;
}

function firstLineIn(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  const end = bytes.indexOf(0x0a);
  try {
    return JSON.parse(new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)));
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
