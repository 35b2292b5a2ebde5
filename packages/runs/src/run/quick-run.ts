import { globalMode, runMode, runPhase, runStatus } from '@signalbox/model';
import {
  hasLength,
  type Is,
  isCount,
  isDigest,
  isJson,
  isName,
  isOwner,
  isPositive,
  isTime,
  isUuid,
  listOf,
  oneOf,
  record,
} from '../quick-checks.ts';
import { newRun } from './run-record.ts';

const isPath: Is = value => isLine(value) && ABSOLUTE.test(value as string);
const isLine = hasLength(1, 4096);
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/])/;

const isSource = record(
  {
    root: isPath,
    entry: isName,
    files: listOf(record({ path: isName, digest: isDigest })),
    packages: listOf(record({ name: isName, version: isName })),
    engine: isName,
  },
  { gitCommit: isName },
);

const always = {
  driver: oneOf(newRun.shape.driver.options),
  name: hasLength(1, 256),
  tags: (value: unknown) => Array.isArray(value) && value.length <= 64 && listOf(hasLength(1, 128))(value),
  phase: oneOf(runPhase.options),
  mode: oneOf(runMode.options),
  globalMode: oneOf(globalMode.options),
  input: isJson,
  limits: record({}),
  seed: isCount,
};
const sometimes = {
  correlationId: hasLength(1, 256),
  idempotencyKey: hasLength(1, 256),
  workingDirectory: isPath,
  source: isSource,
  owner: isOwner,
};

/** Whether these are certainly the parameters of a new run, of the shape that `run` and the server write. */
export const isNewRun = record({ ...always, status: oneOf(newRun.shape.status.options) }, sometimes);

/** Whether this is certainly a stored run, of the shape of most: with neither parent, workspace, limits nor error. */
export const isUsualRun = record(
  {
    ...always,
    id: isUuid,
    status: oneOf(runStatus.options),
    epoch: isCount,
    version: isPositive,
    frames: isCount,
    inputSeq: isCount,
    nextSeq: isCount,
    records: isPositive,
    head: isDigest,
    createdAt: isTime,
    updatedAt: isTime,
  },
  { ...sometimes, output: isJson, stopReason: isName, startedAt: isTime, endedAt: isTime },
);
