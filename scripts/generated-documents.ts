import { accessReference, agentToolsReference, apiReference, operatorToolsReference } from '@signalbox/server';

/** Every document that is made of definitions in the code, by its path from the root of the repository: one line each. */
export const generatedDocuments: Readonly<Record<string, () => string>> = {
  'docs/reference/access.md': accessReference,
  'docs/reference/agent-tools.md': agentToolsReference,
  'docs/reference/api.md': apiReference,
  'docs/reference/operator-tools.md': operatorToolsReference,
};
