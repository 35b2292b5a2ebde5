import { manifestRecord } from '@signalbox/journal';
import {
  approvalResolution,
  artifact,
  edge,
  errorEnvelope,
  handoff,
  message,
  node,
  run,
  runEvent,
  toolCall,
  toolResult,
} from '@signalbox/model';
import {
  bundleV1,
  compiledWorkflowSnapshotV1,
  domainEventV1,
  executionSnapshotFileV1,
  keyring,
  tokenPayload,
} from '@signalbox/workflow';
import type * as z from 'zod';
import { generatedFleetSchemas } from './generated-fleet-schemas.ts';

/** Every shape that others rely on, by the name of its file in `spec/schemas`: one line each. */
export const generatedSchemas: Readonly<Record<string, z.ZodType>> = {
  ...generatedFleetSchemas,
  'approval-resolution': approvalResolution,
  artifact,
  bundle: bundleV1,
  'compiled-workflow': compiledWorkflowSnapshotV1,
  'domain-event': domainEventV1,
  edge,
  'error-envelope': errorEnvelope,
  'execution-snapshot': executionSnapshotFileV1,
  handoff,
  keyring,
  'manifest-record': manifestRecord,
  message,
  node,
  run,
  'run-event': runEvent,
  'token-payload': tokenPayload,
  'tool-call': toolCall,
  'tool-result': toolResult,
};
