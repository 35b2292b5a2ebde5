import { readdirSync, readFileSync } from 'node:fs';
import { nodeHasher } from '@signalbox/journal';
import { describe, expect, it } from 'vitest';
import { metricsProfile, modelTier } from '../../src/compile/compiled-workflow.ts';
import { contractPacks, openWorkflowLibrary } from '../../src/index.ts';
import { blockerCode } from '../../src/session/reasons.ts';
import { compile } from '../compile/sources.ts';
import { formatFields, usesIn } from './format-fields.ts';
import { runningAll, type Walking, walkToEnd } from './generic-agent.ts';

/** A file in the published format, the routines that it calls, and what it is warned of. */
interface FormatFile {
  readonly source: Readonly<Record<string, unknown>>;
  readonly routines?: readonly unknown[];
  readonly warns?: readonly string[];
}

const folders = [new URL('files/', import.meta.url), new URL('../compile/fields/', import.meta.url)];
const files = folders.flatMap(folder =>
  readdirSync(folder).map(name => ({
    name,
    file: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as FormatFile,
  })),
);

function compiledOf({ source, routines = [], warns = [] }: FormatFile) {
  const compiled = compile(source, { routines });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error.problems, null, 1));
  expect(compiled.value.warnings.map(({ code }) => code)).toEqual(warns);
  return compiled.value;
}

const walked = (file: FormatFile, walking: Walking = {}) => {
  const { snapshot, workflowHash } = compiledOf(file);
  return { snapshot, ...walkToEnd(snapshot, workflowHash, { context: runningAll(snapshot), ...walking }) };
};

const named = (name: string): FormatFile => {
  const found = files.find(each => each.name === `${name}.json`);
  if (found === undefined) throw new Error(name);
  return found.file;
};

describe('[W168] a file in the published format', () => {
  it.each(files)(
    '$name is walked to its end through every step, by an agent that knows only what it is asked',
    ({ file }) => {
      const { snapshot, stepIds, end } = walked(file);
      expect([...stepIds].sort()).toEqual(snapshot.steps.map(({ stepId }) => stepId).sort());
      expect(end).toBe('all_steps_done');
    },
  );

  it.each(files)('$name ends, with gaps, for an agent that never stops and gives nothing', ({ file }) => {
    const { snapshot, workflowHash } = compiledOf(file);
    const idle = walkToEnd(snapshot, workflowHash, { autonomy: 'full_auto_never_stop', isIdle: true });
    const isAsked = snapshot.steps.some(step => idle.stepIds.has(step.stepId) && step.notesRequired);
    expect(idle.gaps.length > 0 || !isAsked).toBe(true);
  });

  it('[W148] that is bundled is walked to its end, its rules on notes included', async () => {
    const { workflows } = await openWorkflowLibrary({ hasher: nodeHasher, places: [] }).discover();
    expect(workflows.length).toBeGreaterThan(3);
    for (const { workflowId, compiled } of workflows) {
      if (!compiled.ok) throw new Error(workflowId);
      const { snapshot, workflowHash } = compiled.value;
      const { stepIds, end } = walkToEnd(snapshot, workflowHash, { context: runningAll(snapshot) });
      expect([workflowId, end, stepIds.size]).toEqual([workflowId, 'all_steps_done', snapshot.steps.length]);
    }
  });

  it('has dotted ids that hold in keys, pointers and snapshots', () => {
    const { keys, blocked } = walked(named('dotted'));
    expect(keys).toEqual([
      'design_frame',
      ...[0, 1].flatMap(turn => [
        `design_rounds@${turn}::design_inside_check`,
        `design_rounds@${turn}::design_inside_check__audit`,
        `design_rounds@${turn}::design_enough`,
      ]),
      'after',
    ]);
    expect(new Set(blocked)).toEqual(
      new Set(['MISSING_REQUIRED_OUTPUT', 'INVALID_REQUIRED_OUTPUT', 'USER_ONLY_DEPENDENCY']),
    );
  });

  it('has the same end for every profile, tier and mode', () => {
    const file = named('whole-workflow');
    const keys = walked(file).keys;
    for (const source of [
      ...metricsProfile.options.map(value => ({ ...file.source, metricsProfile: value })),
      ...modelTier.options.map(value => ({ ...file.source, modelTier: value })),
    ]) {
      expect(walked({ ...file, source }).keys).toEqual(keys);
    }
    for (const autonomy of ['full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const) {
      expect(walked(file, { autonomy }).keys).toEqual(keys);
    }
  });

  it('is asked to be confirmed where it says so, in guided mode', () => {
    const { snapshot } = walked(named('confirmations'));
    const inContext = (context: { [key: string]: boolean | string }) => ({
      guided: walked(named('confirmations'), { context }).confirmations,
      auto: walked(named('confirmations'), { context, autonomy: 'full_auto_stop_on_user_deps' }).confirmations,
    });
    expect(snapshot.steps.length).toBe(7);
    expect(inContext({})).toEqual({ guided: 3, auto: 1 });
    expect(inContext({ size: 'large', isRisky: true })).toEqual({ guided: 6, auto: 2 });
  });
});

describe('[W169] the files that are walked', () => {
  const used = new Set(
    files.flatMap(({ file }) => [file.source, ...(file.routines ?? [])].flatMap(source => [...usesIn(source)])),
  );

  it('use every field that the document of the format names', () => {
    expect(formatFields.filter(field => !used.has(field))).toEqual([]);
    expect(new Set(formatFields).size).toBe(formatFields.length);
  });

  it('use every contract, and are blocked for every reason that an output can have', () => {
    expect(contractPacks.filter(({ contractRef }) => !used.has(`contract ${contractRef.slice(13)}`))).toEqual([]);
    const codes = new Set(files.flatMap(({ file }) => walked(file).blocked));
    const ofStorage = new Set(['INVARIANT_VIOLATION', 'STORAGE_CORRUPTION_DETECTED']);
    expect([...codes].sort()).toEqual(blockerCode.options.filter(code => !ofStorage.has(code)).sort());
  });
});
