import {
  type ArtifactId,
  type Clock,
  type ErrorEnvelope,
  err,
  issuesText,
  type Json,
  ok,
  type Result,
  type RunId,
  type Timestamp,
  timestampOf,
} from '@signalbox/model';
import { createArtifactBook } from '../artifacts/artifact-book.ts';
import { lintTree, type PlanLintFinding } from '../nodes/plan-lint.ts';
import type { TreeNode } from '../nodes/tree-json.ts';
import { type AnyPlan, initialState } from '../plan-definition.ts';
import { PlanError, type PlanErrorCode, planFailure } from '../plan-error.ts';
import { createRenderer } from '../render/renderer.ts';
import { createReadable } from '../render/tracked.ts';
import { createActionQueue } from '../state/action-queue.ts';
import { frozen } from '../state/frozen.ts';
import type { NodeRecord } from '../structure/node-record.ts';
import { createStructure } from '../structure/structure.ts';
import { createFileBook } from '../workspaces/file-book.ts';
import type { PlanFiles } from '../workspaces/plan-files.ts';
import { createPlanContext, frameRandom } from './plan-context.ts';
import { createPlanQueries } from './plan-queries.ts';
import { settle, shownTree } from './plan-view.ts';

/** What the first frame of a run would show and do. */
export interface PlanPreview {
  readonly tree: TreeNode;
  /** Nodes whose work would start first, in tree order. */
  readonly starts: readonly string[];
  /** Effects that would run. */
  readonly effects: readonly string[];
  readonly warnings: readonly PlanLintFinding[];
}

export interface PreviewOptions {
  readonly clock: Clock;
  readonly seed?: number;
  readonly query?: (sql: string, params: readonly Json[]) => readonly Json[];
  readonly files?: PlanFiles;
}

/** Only the render is called, and a render writes nothing. */
const unused = {
  run: '' as RunId,
  known: new Set<ArtifactId>(),
  ledger: { event() {}, artifact() {}, contractEvent() {}, stamp: () => '' as Timestamp },
  frame: () => 0,
  readFile: () => new Uint8Array(),
  onChange() {},
  onWritten() {},
  catchUp() {},
};

/** Renders the first frame of a plan. Nothing is executed or committed. */
export function previewPlan(
  plan: AnyPlan,
  input: Json,
  { clock, seed = 0, query, files }: PreviewOptions,
): Result<PlanPreview, ErrorEnvelope<PlanErrorCode>> {
  const accepted = plan.input.safeParse(input);
  if (!accepted.success) {
    return err(planFailure(new PlanError('plan/input-invalid', issuesText(accepted.error.issues, 'the input'))));
  }
  const plain = frozen(accepted.data);
  const now = timestampOf(clock);
  const moment = () => ({ frame: 0 });
  const queue = createActionQueue(
    () => 0,
    () => {},
  );
  const records = new Map<string, NodeRecord>();
  const iterations = createReadable('loop:', new Map());
  const structure = createStructure({ recordOf: id => records.get(id) });
  try {
    const renderer = createRenderer({
      plan,
      context: createPlanContext({
        plan,
        input: plain.ok ? plain.value : accepted.data,
        state: createReadable('', initialState(plan)),
        volatile: createReadable('vol:', new Map()),
        queue,
        db: createPlanQueries(query, moment).access,
        fs: createFileBook({ ...unused, files, queue, moment }).access,
        workspace: undefined,
        artifact: createArtifactBook({ ...unused, queue, moment }).access,
        now: () => now,
        random: frameRandom(seed, 0),
        moment,
      }) as never,
      iterationOf: loop => (iterations.read(loop) as number | undefined) ?? 0,
    });
    const { tree, activity } = settle({ renderer, structure, records, iterations }, undefined, () => []);
    const effects = [...activity.effects.map(({ id }) => id), ...renderer.effects().map(({ id }) => id)];
    renderer.close();
    const shown = shownTree(tree, structure, records);
    const starts = activity.ending === undefined ? activity.ready.map(({ id }) => id) : [];
    return ok({ tree: shown, starts, effects, warnings: lintTree(shown) });
  } catch (error) {
    return err(planFailure(error));
  }
}
