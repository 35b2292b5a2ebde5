/** One row of the table of packages: what its sources may import of the workspace. */
export interface PackageRow {
  readonly name: string;
  readonly mayImport: readonly string[];
}

const drivers = ['model', 'journal', 'state', 'runs', 'workflow', 'guided', 'plan', 'fleet'];
const belowApp = [...drivers, 'store', 'adapters'];

/** Bottom to top. A package appears in the workspace when there is code for it; its row is here from the start. */
export const packageTable: readonly PackageRow[] = [
  { name: 'model', mayImport: [] },
  { name: 'journal', mayImport: ['model'] },
  { name: 'state', mayImport: ['model'] },
  { name: 'runs', mayImport: ['model'] },
  { name: 'workflow', mayImport: ['model', 'journal'] },
  { name: 'guided', mayImport: ['model', 'journal', 'runs', 'workflow'] },
  { name: 'plan', mayImport: ['model', 'state', 'runs'] },
  { name: 'fleet', mayImport: ['model', 'runs'] },
  { name: 'store', mayImport: drivers },
  { name: 'adapters', mayImport: ['model', 'state', 'runs'] },
  { name: 'app', mayImport: belowApp },
  { name: 'server', mayImport: ['model', 'app'] },
  { name: 'client', mayImport: ['model'] },
  { name: 'console', mayImport: ['model', 'client'] },
  { name: 'signalbox', mayImport: ['plan', 'app', 'server', 'client'] },
  { name: 'testkit', mayImport: ['model', 'journal', 'state'] },
];

/** The places whose sources may import the testkit: the demo plays its fakes, agents are tried with its model, and plans are tested with its clock. */
export const TESTKIT_USERS: readonly string[] = [
  'packages/app/src/demo/',
  'packages/app/src/agent-doctor/',
  'packages/app/src/testing/',
];

/** The one place of the journal that touches the platform. */
export const JOURNAL_FILES = 'packages/journal/src/files/';

/** Code that takes time, ids and randomness as arguments. `tsconfig.pure.json` compiles the same globs. */
export const pureGlobs: readonly string[] = [
  'packages/model/src/**/*',
  'packages/fleet/src/**/*',
  'packages/workflow/src/compile/**/*',
  'packages/workflow/src/interpret/**/*',
  'packages/*/src/**/projections/**/*',
];

/** SDKs of model and agent vendors. `@anthropic-ai/sandbox-runtime` is a sandbox, not an SDK of theirs. */
export function isVendorSdk(packageName: string): boolean {
  if (packageName === '@anthropic-ai/sandbox-runtime') return false;
  return (
    ['openai', 'ai'].includes(packageName) ||
    /^@(anthropic-ai|openai|google|agentclientprotocol|ai-sdk)\//.test(packageName)
  );
}

/** The import name of a package: `@signalbox/model`, and `signalbox` for the published one. */
export function publicName(name: string): string {
  return name === 'signalbox' ? 'signalbox' : `@signalbox/${name}`;
}

/** The row's name of a package of the workspace, or undefined for any other package. */
export function internalName(packageName: string): string | undefined {
  if (packageName === 'signalbox') return 'signalbox';
  return packageName.startsWith('@signalbox/') ? packageName.slice('@signalbox/'.length) : undefined;
}
