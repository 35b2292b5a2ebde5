import { retentionPolicy } from '@signalbox/runs';
import type * as z from 'zod';
import { agentsPart } from '../agent-register/custom-agents.ts';
import { fleetPart } from '../fleet/fleet-settings.ts';
import { workflowsPart } from '../guided/guided-config.ts';
import { plansPart } from '../host/plan-places.ts';
import { logsPart } from '../logs/log-config.ts';
import { commandsPart } from '../sandbox/command-config.ts';
import { secretsPart } from '../secrets/open-secrets.ts';
import { editorPart } from './editor-config.ts';

/** Every part of `config.json` of a data directory, by its key. */
export const configParts = {
  agents: agentsPart,
  commands: commandsPart,
  editor: editorPart,
  fleet: fleetPart,
  logs: logsPart,
  plans: plansPart,
  retention: retentionPolicy,
  secrets: secretsPart,
  workflows: workflowsPart,
} as const satisfies Readonly<Record<string, z.ZodType>>;
