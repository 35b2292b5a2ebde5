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
import type * as z from 'zod';

/** Every shape that others rely on, by the name of its file in `spec/schemas`: one line each. */
export const generatedSchemas: Readonly<Record<string, z.ZodType>> = {
  'approval-resolution': approvalResolution,
  artifact,
  edge,
  'error-envelope': errorEnvelope,
  handoff,
  'manifest-record': manifestRecord,
  message,
  node,
  run,
  'run-event': runEvent,
  'tool-call': toolCall,
  'tool-result': toolResult,
};
