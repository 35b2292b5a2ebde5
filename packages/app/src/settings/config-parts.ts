import { retentionPolicy } from '@signalbox/runs';
import type * as z from 'zod';
import { agentsPart } from '../agent-register/custom-agents.ts';
import { fleetPart } from '../fleet/fleet-settings.ts';
import { workflowsPart } from '../guided/guided-config.ts';
import { plansPart } from '../host/plan-places.ts';
import { limitsPart } from '../limits/limit-settings.ts';
import { logsPart } from '../logs/log-config.ts';
import { meterPart } from '../meter/kept-calls.ts';
import { notifyPart } from '../notify/notify-config.ts';
import { commandsPart } from '../sandbox/command-config.ts';
import { secretsPart } from '../secrets/open-secrets.ts';
import { telemetryPart } from '../telemetry/telemetry.ts';
import { editorPart } from './editor-config.ts';

/** Every part of `config.json` of a data directory, by its key. */
export const configParts = {
  agents: agentsPart,
  commands: commandsPart,
  editor: editorPart,
  fleet: fleetPart,
  limits: limitsPart,
  logs: logsPart,
  meter: meterPart,
  notify: notifyPart,
  plans: plansPart,
  retention: retentionPolicy,
  secrets: secretsPart,
  telemetry: telemetryPart,
  workflows: workflowsPart,
} as const satisfies Readonly<Record<string, z.ZodType>>;
