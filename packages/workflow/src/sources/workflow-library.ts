import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Digest,
  digestHex,
  digestOf,
  type ErrorEnvelope,
  err,
  failure,
  type Hasher,
  ok,
  type Result,
} from '@signalbox/model';
import {
  type CompiledWorkflow,
  type CompileOptions,
  compileWorkflow,
  type WorkflowRejected,
} from '../compile/compile-workflow.ts';
import { nearest } from '../compile/problem.ts';
import { type Routines, readRoutines } from '../compile/routines.ts';
import { type IdStatus, idStatusOf, type SourceKind, suggestedIdOf } from '../compile/workflow-id.ts';
import { aheadText, type CompiledByKey, compiledAhead } from './compiled-ahead.ts';
import { type WalkProblem, walkDirectory, walkLimits } from './directory-walk.ts';
import { type FileProblem, readWorkflowFile, stampOf, type WorkflowFile } from './workflow-file.ts';

/** A directory that is searched for workflows. */
export interface WorkflowPlace {
  readonly kind: SourceKind;
  readonly directory: string;
}

/** A workflow in a list. */
export interface WorkflowListing {
  readonly workflowId: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly idStatus: IdStatus;
  /** The suggested replacement for a legacy id. */
  readonly suggestedId?: string;
  readonly sourceKind: SourceKind;
  /** The file, relative to its directory. */
  readonly sourceRef: string;
  readonly isRoutine: boolean;
  readonly compiled: Result<CompiledWorkflow, WorkflowRejected>;
}

/** A file that could not be listed, and why. */
interface LibraryProblem {
  readonly sourceKind: SourceKind;
  readonly sourceRef: string;
  readonly code: WalkProblem['code'] | FileProblem['code'] | 'not_a_workflow' | 'shadowed';
  readonly message: string;
}

interface Discovery {
  /** Sorted by id. */
  readonly workflows: readonly WorkflowListing[];
  readonly routines: Routines;
  readonly problems: readonly LibraryProblem[];
}

export interface FoundWorkflow {
  readonly listing: WorkflowListing;
  readonly compiled: CompiledWorkflow;
  /** Set if the workflow was requested by an older id. */
  readonly canonicalId?: string;
}

export interface WorkflowLibrary {
  /** Searches all places. Unchanged files are neither read nor compiled again. */
  discover(): Promise<Discovery>;
  find(workflowId: string): Promise<FindResult>;
  /** The same as of the last search while the workflow's own file is unchanged; a change of a routine is seen by the next search. */
  peek(workflowId: string): Promise<FindResult>;
}

type FindResult = Result<FoundWorkflow, ErrorEnvelope<'workflow/unknown' | 'workflow/invalid'>>;

export interface LibraryOptions {
  readonly hasher: Hasher;
  /** In order of precedence, after the bundled workflows. */
  readonly places: readonly WorkflowPlace[];
  readonly bindings?: ReadonlyMap<string, string>;
  readonly mode?: CompileOptions['mode'];
}

/** The bundled workflows: next to the built program, or in a checkout. */
export const bundledPlace: WorkflowPlace = {
  kind: 'bundled',
  directory: fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../bundled' : './bundled', import.meta.url)),
};

interface Found {
  readonly place: WorkflowPlace;
  readonly ref: string;
  readonly file: WorkflowFile;
}

export function openWorkflowLibrary(options: LibraryOptions): WorkflowLibrary {
  const { discover, find, peek } = openLibrary(options);
  return { discover, find, peek };
}

/** The bundled workflows, compiled for `compiledAhead` to read. */
export async function compileBundled(hasher: Hasher): Promise<string> {
  const { discover, compiled } = openLibrary({ hasher, places: [] });
  await discover();
  return aheadText(compiled());
}

function openLibrary({ hasher, places, bindings, mode = 'load' }: LibraryOptions) {
  let files = new Map<string, WorkflowFile>();
  let compiled: CompiledByKey = mode === 'load' && bindings === undefined ? compiledAhead() : new Map();
  let last: { readonly files: readonly Found[]; readonly problems: string; readonly discovery: Discovery } | undefined;

  async function discover(): Promise<Discovery> {
    const walked: LibraryProblem[] = [];
    const found = await findFiles(walked);
    const told = JSON.stringify(walked);
    if (last?.problems === told && isSame(last.files, found)) return last.discovery;
    const discovery = await listed(found, walked);
    last = { files: found, problems: told, discovery };
    return discovery;
  }

  async function listed(found: readonly Found[], walked: readonly LibraryProblem[]): Promise<Discovery> {
    const problems = [...walked];
    const routines = readRoutines(found.filter(each => isRoutine(each.ref)).map(each => each.file.source));
    const context = digestOf(
      hasher,
      found.filter(each => isRoutine(each.ref)).map(each => each.file.digest),
    );
    const fresh = new Map<string, Result<CompiledWorkflow, WorkflowRejected>>();
    const listings = new Map<string, { readonly listing: WorkflowListing; readonly digest: Digest }>();
    for (const { place, ref, file } of found) {
      const head = headOf(file.source);
      if (head === undefined) {
        const message =
          'The file is JSON, and no workflow: it has no id or no steps. Add them, or keep it somewhere else.';
        problems.push({ sourceKind: place.kind, sourceRef: ref, code: 'not_a_workflow', message });
        continue;
      }
      const first = listings.get(head.workflowId)?.listing;
      if (first !== undefined) {
        const message = `"${head.workflowId}" is already defined by ${first.sourceRef} (${first.sourceKind}), which counts. Give this one another id.`;
        problems.push({ sourceKind: place.kind, sourceRef: ref, code: 'shadowed', message });
        continue;
      }
      const key = `${place.kind} ${file.digest} ${context}`;
      const options = { hasher, routines, sourceKind: place.kind, mode, ...(bindings && { bindings }) };
      let result = compiled.get(key) ?? fresh.get(key);
      if (result === undefined) {
        // A large file takes a while, so other work in this process gets its turn first.
        await setImmediate();
        result = compileWorkflow(file.source, options);
      }
      fresh.set(key, result);
      const listing: WorkflowListing = {
        ...head,
        idStatus: idStatusOf(head.workflowId) ?? 'legacy',
        sourceKind: place.kind,
        sourceRef: ref,
        isRoutine: isRoutine(ref),
        compiled: result,
      };
      listings.set(head.workflowId, { listing, digest: file.digest });
    }
    compiled = fresh;
    const sorted = [...listings.values()].sort((left, right) =>
      left.listing.workflowId < right.listing.workflowId ? -1 : 1,
    );
    return { workflows: withSuggestions(sorted), routines, problems };
  }

  async function findFiles(problems: LibraryProblem[]): Promise<readonly Found[]> {
    const found: Found[] = [];
    const read = new Map<string, WorkflowFile>();
    for (const place of [bundledPlace, ...places]) {
      const walk = await walkDirectory(place.directory, walkLimits, treeOf(place));
      const note = ({ ref, ...rest }: { ref: string; code: LibraryProblem['code']; message: string }) =>
        problems.push({ sourceKind: place.kind, sourceRef: ref, ...rest });
      for (const problem of walk.problems) note(problem);
      for (const ref of walk.files) {
        const full = path.join(place.directory, ref);
        const file = await readWorkflowFile(full, hasher, files.get(full));
        if (!file.ok) {
          note({ ref, ...file.error });
          continue;
        }
        read.set(full, file.value);
        found.push({ place, ref, file: file.value });
      }
    }
    files = read;
    return found;
  }

  const library: WorkflowLibrary = {
    discover,
    find: async workflowId => named(await discover(), workflowId),
    async peek(workflowId) {
      const listing = last?.discovery.workflows.find(each => each.workflowId === workflowId);
      const known = last?.files.find(
        ({ place, ref }) => place.kind === listing?.sourceKind && ref === listing.sourceRef,
      );
      if (last === undefined || known === undefined) return library.find(workflowId);
      const isSame = (await stampOf(path.join(known.place.directory, known.ref))) === known.file.stamp;
      return isSame ? named(last.discovery, workflowId) : library.find(workflowId);
    },
  };
  return { ...library, compiled: () => compiled };
}

function named({ workflows, problems }: Discovery, workflowId: string): FindResult {
  const listing = workflows.find(each => each.workflowId === workflowId) ?? aliased(workflows, workflowId);
  if (listing === undefined) return err(unknownWorkflow(workflowId, workflows, problems));
  if (!listing.compiled.ok) return err(invalidWorkflow(listing, listing.compiled.error));
  const canonical = listing.workflowId === workflowId ? {} : { canonicalId: listing.workflowId };
  return ok({ listing, compiled: listing.compiled.value, ...canonical });
}

/** An unchanged file is the same object. */
function isSame(left: readonly Found[], right: readonly Found[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ place, ref, file }, index) => {
      const other = right[index];
      return other?.file === file && other.ref === ref && other.place === place;
    })
  );
}

/** A bundled workflow by its id from before namespaces. */
function aliased(workflows: readonly WorkflowListing[], workflowId: string): WorkflowListing | undefined {
  const names = new Set([
    `wr.${workflowId}`,
    `wr.${workflowId.replaceAll('-', '_')}`,
    `wr.${workflowId.replaceAll('_', '-')}`,
  ]);
  return workflows.find(each => each.sourceKind === 'bundled' && names.has(each.workflowId));
}

/** A project's own workflows must be inside the project: a person who clones it does not choose its links. */
function treeOf({ kind, directory }: WorkflowPlace): string | undefined {
  const home = path.dirname(directory);
  return kind === 'project' && path.basename(home) === '.signalbox' ? path.dirname(home) : undefined;
}

function isRoutine(ref: string): boolean {
  return ref.split('/').includes('routines');
}

/** A file's own metadata; undefined if it is not a workflow. */
function headOf(source: unknown): Pick<WorkflowListing, 'workflowId' | 'name' | 'description' | 'version'> | undefined {
  if (typeof source !== 'object' || source === null || !('id' in source) || !('steps' in source)) return undefined;
  const text = (key: string): string => {
    const value: unknown = Object.hasOwn(source, key) ? Reflect.get(source, key) : undefined;
    return typeof value === 'string' ? value.slice(0, 4000) : '';
  };
  const workflowId = text('id');
  if (workflowId === '') return undefined;
  return { workflowId, name: text('name'), description: text('description'), version: text('version') };
}

function withSuggestions(
  entries: readonly { readonly listing: WorkflowListing; readonly digest: Digest }[],
): readonly WorkflowListing[] {
  const taken = new Set(entries.map(({ listing }) => listing.workflowId));
  return entries.map(({ listing, digest }) => {
    if (listing.idStatus === 'namespaced') return listing;
    const suggestedId = suggestedIdOf(listing.workflowId, listing.sourceKind, id => taken.has(id), digestHex(digest));
    taken.add(suggestedId);
    return { ...listing, suggestedId };
  });
}

/** Mentions unreadable files, because one of them may be the requested workflow. */
function unknownWorkflow(
  workflowId: string,
  workflows: readonly WorkflowListing[],
  problems: readonly LibraryProblem[],
): ErrorEnvelope<'workflow/unknown'> {
  const meant = nearest(
    workflowId,
    workflows.map(each => each.workflowId),
  );
  const unread = problems.filter(({ code }) => UNREAD.has(code));
  const named = unread.slice(0, MAX_UNREAD).map(({ sourceRef, message }) => `${sourceRef}: ${message}`);
  const left = unread.length === 0 ? '' : ` ${unread.length} could not be read. ${named.join(' ')}`;
  return failure('workflow/unknown', {
    message: `There is no workflow ${JSON.stringify(workflowId.slice(0, 200))}.${left}`,
    suggestion:
      meant !== undefined
        ? `Did you mean "${meant}"?`
        : unread.length > 0
          ? 'Mend what could not be read if it is among that; else list the workflows and use an id from there.'
          : 'List the workflows and use an id from there.',
  });
}

const MAX_UNREAD = 3;

const UNREAD: ReadonlySet<LibraryProblem['code']> = new Set([
  'unreadable_directory',
  'symbolic_link',
  'too_deep',
  'too_many_entries',
  'unreadable_file',
  'too_large_file',
  'not_text',
  'not_json_file',
]);

function invalidWorkflow(listing: WorkflowListing, { problems }: WorkflowRejected): ErrorEnvelope<'workflow/invalid'> {
  const errors = problems.filter(problem => problem.severity === 'error');
  const [first] = errors;
  const more = errors.length > 1 ? ` And ${errors.length - 1} more.` : '';
  return failure('workflow/invalid', {
    message: `The workflow "${listing.workflowId}" cannot be run. At ${first?.path || '/'}: ${first?.message ?? ''}${more}`,
    suggestion: first?.suggestion ?? 'Mend the file.',
    details: {
      problems: errors.slice(0, 10).map(({ code, path: pointer }) => `${code} at #${pointer.slice(0, 200)}`),
    },
  });
}
