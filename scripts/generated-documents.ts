import { accessReference, agentToolsReference, apiReference, operatorToolsReference } from '@signalbox/server';
import { cliReference } from './reference/cli-reference.ts';
import { configurationReference } from './reference/configuration-reference.ts';
import { errorReference } from './reference/error-reference.ts';
import { eventReference } from './reference/event-reference.ts';
import { planApiReference } from './reference/plan-api-reference.ts';

/** Every document that is made of definitions in the code, by its path from the root of the repository: one line each. */
export const generatedDocuments: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/access.md': accessReference,
  'docs/reference/agent-tools.md': agentToolsReference,
  'docs/reference/api.md': apiReference,
  'docs/reference/cli.md': cliReference,
  'docs/reference/configuration.md': configurationReference,
  'docs/reference/errors.md': errorReference,
  'docs/reference/events.md': eventReference,
  'docs/reference/operator-tools.md': operatorToolsReference,
  'docs/reference/plan-api.md': planApiReference,
};
