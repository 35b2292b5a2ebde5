import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { copyWorkflow, openSessionFiles } from '@signalbox/guided';
import { DiskError, hostDisk, nodeHasher, sqliteLocks } from '@signalbox/journal';
import {
  canonicalJson,
  type ErrorCode,
  type ErrorEnvelope,
  errorCodes,
  type Json,
  type Result,
} from '@signalbox/model';
import { interceptedDisk, seededRng } from '@signalbox/testkit';
import { type GapId, mintToken, nodeMac, openKeyringFile, readBundle } from '@signalbox/workflow';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { dataDirectory, errorOf, value } from '../../../guided/test/support/guided-walk.ts';
import { guidedPorts } from '../../src/guided/guided-home.ts';
import {
  exportSession,
  findSession,
  type GuidedTools,
  openGuidedDesk,
  type StepAnswer,
} from '../../src/guided/index.ts';
import { openTools } from '../support/open-tools.ts';

/** A session of a bundled workflow at its first step, with one attempt blocked by what only the person can give. */
export interface Begun {
  readonly directory: string;
  readonly tools: GuidedTools;
  readonly start: StepAnswer;
}

/** Made once and copied: what is done to one is not done to the others. */
let made: Promise<{ readonly directory: string; readonly start: StepAnswer }> | undefined;

export async function begun(): Promise<Begun> {
  made ??= makeSession();
  const { directory: template, start } = await made;
  const directory = dataDirectory();
  cpSync(template, directory, { recursive: true });
  return { directory, tools: openTools(directory), start };
}

async function makeSession() {
  const directory = mkdtempSync(path.join(tmpdir(), 'guided-'));
  const call = { workflowId: 'wr.bug-investigation', startKey: 'k' };
  return { directory, start: value(await openTools(directory).start(call)) };
}

export async function forgetTemplate(): Promise<void> {
  const { directory } = (await made) ?? {};
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  made = undefined;
}

type Store = Extract<(typeof errorCodes)['store'][number], `STORE_${string}`>;
/** The refusals of the guided surface, and of the person's desk beside it. */
export type GuidedCode =
  | (typeof errorCodes)['token' | 'session' | 'bundle' | 'input' | 'workflow'][number]
  | Store
  | 'run/duplicate-key'
  | 'decision/unknown'
  | 'decision/stale-proposal';

/** The closed sets that the table below must cover, from where they are declared. */
export const guidedCodes: readonly ErrorCode[] = [
  ...errorCodes.token,
  ...errorCodes.session,
  ...errorCodes.bundle,
  ...errorCodes.input,
  ...errorCodes.workflow,
  ...errorCodes.store.filter(code => code.startsWith('STORE_')),
  'run/duplicate-key',
  'decision/unknown',
  'decision/stale-proposal',
];

/** An id that nothing has. */
const OTHER = '01900000-0000-7000-8000-00000000000f';

type Produced = Promise<ErrorEnvelope>;
const from = async <T>(call: Promise<Result<T, ErrorEnvelope>>): Produced => errorOf(await call);

const locksThat = (code: 'busy' | 'unusable') => ({
  acquire: async () => ({ ok: false as const, error: code === 'busy' ? { code } : { code, reason: 'for a test' } }),
});

const deskOf = (directory: string, more = {}) =>
  openGuidedDesk({ dataDirectory: directory, rng: seededRng(1), ...more });

async function asked({ tools, start, directory }: Begun) {
  const needsFromUser = [{ reason: 'needs_user_secret_or_token', summary: 'the key of the store' }] as const;
  value(await tools.continue({ ...filledIn(start), output: { ...filledIn(start).output, needsFromUser } } as never));
  const [waiting] = value(deskOf(directory).waiting());
  if (waiting === undefined) throw new Error('nothing waits');
  return waiting;
}

/** A token for the start with something else in it, signed with the keys of the directory. */
function signed({ directory, start }: Begun, more: Record<string, string>): string {
  const ring = value(openKeyringFile({ home: directory, locks: sqliteLocks, rng: seededRng(1) }).load());
  const { sessionId, runId, nodeId, workflow } = start;
  const { workflowHash } = workflow;
  return mintToken(nodeMac, ring, { tokenKind: 'state', sessionId, runId, nodeId, workflowHash, ...more } as never);
}

const golden = new URL('../../../../spec/vectors/workflow-bundle.json', import.meta.url);

/** The frozen bundle with a change, its digests made to fit. */
function bundleWith(edit: (bundle: Mutable) => void, isAttested = true): Produced {
  const bundle = JSON.parse(readFileSync(golden, 'utf8')) as Mutable;
  edit(bundle);
  if (isAttested) attest(bundle);
  const read = readBundle(nodeHasher, canonicalJson(bundle as unknown as Json));
  if (read.ok) throw new Error('was read');
  return Promise.resolve(read.error);
}

interface Mutable {
  bundleSchemaVersion: number;
  bundleId: unknown;
  integrity: { entries: { path: string; sha256: string; bytes: number }[] };
  session: {
    events: Record<string, unknown>[];
    manifest: Record<string, unknown>[];
    snapshots: Record<string, unknown>;
    pinnedWorkflows: Record<string, unknown>;
  };
}

function attest({ integrity, session }: Mutable): void {
  integrity.entries = integrity.entries.flatMap(entry => {
    const [, part = '', name] = entry.path.split('/');
    const held: unknown = Reflect.get(session, part);
    const content: unknown = name === undefined ? held : Reflect.get(held as object, name);
    if (content === undefined) return [];
    const text = canonicalJson(content as Json);
    return [{ path: entry.path, sha256: nodeHasher(text), bytes: Buffer.byteLength(text) }];
  });
}

const dropFirst = (members: Record<string, unknown>): void => {
  Reflect.deleteProperty(members, Object.keys(members)[0] ?? '');
};

/** How each code comes about. A code without a line here does not compile, and one that is not produced fails. */
export const errors: Readonly<Record<GuidedCode, () => Produced>> = {
  TOKEN_INVALID_FORMAT: async () => from((await begun()).tools.continue({ stateToken: 'none' })),
  TOKEN_UNSUPPORTED_VERSION: async () => {
    const { tools, start } = await begun();
    return from(tools.continue({ stateToken: start.stateToken.replace('st.v1.', 'st.v2.') }));
  },
  TOKEN_BAD_SIGNATURE: async () => {
    const { tools, start } = await begun();
    const changed = start.stateToken.endsWith('A') ? 'B' : 'A';
    const at = start.stateToken.lastIndexOf('.') + 1;
    return from(
      tools.continue({ stateToken: start.stateToken.slice(0, at) + changed + start.stateToken.slice(at + 1) }),
    );
  },
  TOKEN_SCOPE_MISMATCH: async () => {
    const { tools, start } = await begun();
    const other = value(await tools.start({ workflowId: 'wr.research' }));
    return from(tools.continue({ stateToken: start.stateToken, ackToken: other.ackToken ?? '' }));
  },
  TOKEN_UNKNOWN_NODE: async () => {
    const here = await begun();
    return from(here.tools.continue({ stateToken: signed(here, { nodeId: OTHER }) }));
  },
  TOKEN_WORKFLOW_HASH_MISMATCH: async () => {
    const here = await begun();
    return from(here.tools.continue({ stateToken: signed(here, { workflowHash: nodeHasher('another') }) }));
  },
  TOKEN_SESSION_LOCKED: async () => {
    const { directory, start } = await begun();
    return from(openTools(directory, { locks: locksThat('busy') }).continue(filledIn(start)));
  },
  SESSION_LOCKED: async () => {
    const here = await begun();
    const { sessionId, gap } = await asked(here);
    return from(
      deskOf(here.directory, { locks: locksThat('busy') }).answer(sessionId, gap.gapId, {
        kind: 'answered',
        value: 'It is there.',
      }),
    );
  },
  SESSION_CORRUPT: async () => {
    const { directory, start } = await begun();
    const events = path.join(directory, 'sessions', start.sessionId, 'events');
    appendFileSync(path.join(events, readdirSync(events)[0] ?? ''), ' ');
    return from(openTools(directory).continue({ stateToken: start.stateToken }));
  },
  SESSION_UNKNOWN_VERSION: async () => {
    const { directory, start } = await begun();
    const manifest = path.join(directory, 'sessions', start.sessionId, 'manifest.jsonl');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll('"v":1', '"v":2'));
    return from(openTools(directory).continue({ stateToken: start.stateToken }));
  },
  SESSION_INVARIANT_VIOLATION: async () => {
    const { directory, tools, start } = await begun();
    const backup = dataDirectory();
    cpSync(directory, backup, { recursive: true });
    value(await tools.continue({ ...filledIn(start), output: {} }));
    const later = value(await tools.continue({ stateToken: start.stateToken }));
    return from(openTools(backup).continue(filledIn(later)));
  },
  'session/holds-secret': async () => {
    // A session of before the secret was known: the environment gets it later.
    const { directory, start } = await begun();
    const name = 'SIGNALBOX_TEST_SESSION_TOKEN';
    process.env[name] = start.workflow.workflowHash;
    try {
      return errorOf(
        exportSession({ dataDirectory: directory, clock: { now: () => 0 }, appVersion: '1' }, start.sessionId),
      );
    } finally {
      Reflect.deleteProperty(process.env, name);
    }
  },
  'session/unknown': async () => {
    const { directory } = await begun();
    return from(Promise.resolve(findSession({ dataDirectory: directory }, OTHER)));
  },
  STORE_IO_FAILED: async () => {
    const { directory, start } = await begun();
    const disk = interceptedDisk(hostDisk, (operation, file, run) => {
      if (operation === 'write' && file.includes('/sessions/')) throw new DiskError('write', 'ENOSPC');
      return run();
    });
    return from(openTools(directory, { disk }).continue(filledIn(start)));
  },
  STORE_LOCK_UNUSABLE: async () => {
    const { directory, start } = await begun();
    return from(openTools(directory, { locks: locksThat('unusable') }).continue(filledIn(start)));
  },
  STORE_PLAN_INVALID: async () => {
    const { directory, start } = await begun();
    const { writer } = openSessionFiles({ dataDirectory: directory, ports: guidedPorts, rng: seededRng(1) });
    const planned = { snapshots: [], plan: { events: [] } };
    return from(writer.write<never>(start.sessionId, () => ({ ok: true, value: { planned } })));
  },
  STORE_DEDUPE_CONFLICT: async () => {
    const { directory, start } = await begun();
    const { writer } = openSessionFiles({ dataDirectory: directory, ports: guidedPorts, rng: seededRng(1) });
    return from(
      writer.write<never>(start.sessionId, view => {
        const [first] = view.events();
        if (first === undefined) throw new Error('no events');
        const { eventIndex: _, sessionId: __, v: ___, ...draft } = first;
        const events = [draft, { ...draft, dedupeKey: 'session_created:again' }] as never;
        return { ok: true, value: { planned: { snapshots: [], plan: { events } } } };
      }),
    );
  },
  STORE_SNAPSHOT_MISSING: async () => {
    const { directory, start } = await begun();
    rmSync(path.join(directory, 'snapshots'), { recursive: true });
    return from(openTools(directory).continue({ stateToken: start.stateToken }));
  },
  STORE_SNAPSHOT_CORRUPT: async () => {
    const { directory, start } = await begun();
    const snapshots = path.join(directory, 'snapshots');
    for (const name of readdirSync(snapshots)) appendFileSync(path.join(snapshots, name), ' ');
    return from(openTools(directory).continue({ stateToken: start.stateToken }));
  },
  STORE_KEYRING_INVALID: async () => {
    const { directory, start } = await begun();
    writeFileSync(path.join(directory, 'keys', 'keyring.json'), '{}');
    return from(openTools(directory).continue({ stateToken: start.stateToken }));
  },
  VALIDATION_ERROR: async () => from((await begun()).tools.continue({} as never)),
  'workflow/unknown': async () => from((await begun()).tools.start({ workflowId: 'wr.none' })),
  'workflow/invalid': async () => {
    const workflows = path.join(dataDirectory(), 'w');
    mkdirSync(workflows);
    writeFileSync(
      path.join(workflows, 'x.json'),
      JSON.stringify({
        id: 'project.x',
        name: 'X',
        description: '',
        version: '1.0.0',
        steps: [{ id: 'a', title: 'A' }],
      }),
    );
    const directories = [{ kind: 'project', directory: workflows }] as const;
    return from(openTools(dataDirectory(), { directories }).start({ workflowId: 'project.x' }));
  },
  'workflow/changed': async () => {
    const workflows = path.join(dataDirectory(), 'w');
    const directories = [{ kind: 'project', directory: workflows }] as const;
    const copied = await copyWorkflow('wr.research', 'team.mine', directories);
    if (!copied.ok) return from(Promise.resolve(copied));
    return from(copyWorkflow('wr.research', 'team.mine', directories));
  },
  'run/duplicate-key': async () => from((await begun()).tools.start({ workflowId: 'wr.research', startKey: 'k' })),
  'decision/unknown': async () => {
    const { directory, start } = await begun();
    const gapId = OTHER as GapId;
    return from(deskOf(directory).answer(start.sessionId, gapId, { kind: 'answered', value: 'It is there.' }));
  },
  'decision/stale-proposal': async () => {
    const here = await begun();
    const { sessionId, gap } = await asked(here);
    const shown = nodeHasher('something else');
    return from(
      deskOf(here.directory).answer(sessionId, gap.gapId, { kind: 'answered', value: 'It is there.', shown }),
    );
  },
  BUNDLE_INVALID_FORMAT: () => bundleWith(bundle => Reflect.deleteProperty(bundle, 'bundleId')),
  BUNDLE_UNSUPPORTED_VERSION: () =>
    bundleWith(bundle => {
      bundle.bundleSchemaVersion = 2;
    }),
  BUNDLE_INTEGRITY_FAILED: () => bundleWith(bundle => bundle.session.events.pop(), false),
  BUNDLE_MISSING_SNAPSHOT: () => bundleWith(bundle => dropFirst(bundle.session.snapshots)),
  BUNDLE_MISSING_PINNED_WORKFLOW: () => bundleWith(bundle => dropFirst(bundle.session.pinnedWorkflows)),
  BUNDLE_EVENT_ORDER_INVALID: () => bundleWith(bundle => bundle.session.events.reverse()),
  BUNDLE_MANIFEST_ORDER_INVALID: () => bundleWith(bundle => bundle.session.manifest.reverse()),
};
