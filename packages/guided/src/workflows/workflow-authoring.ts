import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import {
  type ErrorEnvelope,
  err,
  failure,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  type Result,
} from '@signalbox/model';
import {
  builtinCatalog,
  bundledPlace,
  type CompiledWorkflowSnapshotV1,
  openWorkflowLibrary,
  readWorkflowFile,
  renderPrompt,
  type WorkflowPlace,
} from '@signalbox/workflow';

/** Everything that authors can use by name, the routines of the given places among it. */
export async function listBuiltins(directories: readonly WorkflowPlace[]) {
  const { routines } = await openWorkflowLibrary({ hasher: nodeHasher, places: directories }).discover();
  return builtinCatalog(routines);
}

/** The source of a workflow by its id, as its file has it. */
export async function workflowSource(
  workflowId: string,
  directories: readonly WorkflowPlace[],
): Promise<Result<{ readonly source: JsonObject; readonly isRoutine: boolean }, ErrorEnvelope>> {
  const library = openWorkflowLibrary({ hasher: nodeHasher, places: directories });
  const found = await library.find(workflowId);
  if (!found.ok) return found;
  const { sourceKind, sourceRef, isRoutine } = found.value.listing;
  for (const place of [bundledPlace, ...directories]) {
    if (place.kind !== sourceKind) continue;
    const read = await readWorkflowFile(path.join(place.directory, sourceRef), nodeHasher);
    if (read.ok && isJsonObject(read.value.source as Json)) {
      return ok({ source: read.value.source as JsonObject, isRoutine });
    }
  }
  return err(
    failure('workflow/unknown', {
      message: `The file of ${workflowId} is gone.`,
      suggestion: 'List the workflows again.',
    }),
  );
}

/** A source under another id, with every reference to a renamed workflow following. */
export function renamedSource(source: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const rename = (part: Json, key?: string): Json => {
    if (typeof part === 'string') return key === 'workflowId' ? (names.get(part) ?? part) : part;
    if (Array.isArray(part)) return part.map(each => rename(each));
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, rename(value as Json, name)]));
  };
  const id = typeof source.id === 'string' ? (names.get(source.id) ?? source.id) : source.id;
  return { ...(rename(source) as JsonObject), id: id ?? null };
}

interface PreviewedStep {
  readonly stepId: string;
  readonly title: string;
  readonly loops: readonly string[];
  readonly prompt: string;
  readonly bytes: number;
  /** About: four bytes of English make a token. */
  readonly tokens: number;
}

/** Every prompt as an agent would see it, in the first iteration of its loops. */
export function previewWorkflow(snapshot: CompiledWorkflowSnapshotV1, context: JsonObject): readonly PreviewedStep[] {
  return snapshot.steps.map(({ stepId, title, loops }, index) => {
    const loopStack = loops.map((loopId, depth) => {
      const inside = loops[depth + 1] ?? stepId;
      const body = snapshot.loops.find(loop => loop.loopId === loopId)?.body ?? [];
      const bodyIndex = body.findIndex(entry => (entry.kind === 'step' ? entry.stepId : entry.loopId) === inside);
      return { loopId, iteration: 0, bodyIndex };
    });
    const step = { stepId, loopPath: loops.map(loopId => ({ loopId, iteration: 0 })) };
    const before = snapshot.steps.slice(0, index).map(each => each.stepId);
    const state = {
      kind: 'running',
      completed: { kind: 'set', values: before },
      loopStack,
      pending: { kind: 'some', step },
    } as unknown as Parameters<typeof renderPrompt>[1];
    const rendered = renderPrompt(snapshot, state, context);
    const prompt = rendered.ok ? rendered.value.prompt : rendered.error.reason;
    const bytes = Buffer.byteLength(prompt);
    return { stepId, title, loops, prompt, bytes, tokens: Math.ceil(bytes / 4) };
  });
}
