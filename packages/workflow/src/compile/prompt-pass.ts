import { type Hasher, utf8Length } from '@signalbox/model';
import type { Feature } from './builtins/features.ts';
import { refSnippet, refSnippets } from './builtins/refs.ts';
import type { CompiledStep } from './compiled-workflow.ts';
import { limits } from './limits.ts';
import { meantOrOneOf, type ProblemList } from './problem.ts';
import { finishedText } from './prompt-text.ts';
import type { SourceBlockText, SourcePromptBlocks } from './source-format.ts';
import type { Surroundings } from './template-pass.ts';

type PromptBlocks = NonNullable<CompiledStep['promptBlocks']>;
export type Injection = CompiledStep['injections'][number];
type ResolvedText = NonNullable<PromptBlocks['goal']>;
type Placement = Injection['placement'];

export interface CompiledPrompt {
  readonly blocks: PromptBlocks;
  readonly text: string;
  readonly injections: readonly Injection[];
}

/** Resolves the refs of prompt blocks, adds the features' text, and renders the sections. */
export function compilePromptBlocks(
  source: SourcePromptBlocks,
  around: Surroundings,
  features: readonly Feature[],
  hasher: Hasher,
  problems: ProblemList,
): CompiledPrompt {
  const injections: Injection[] = [];
  const { place, slots } = around;

  const resolve = (value: SourceBlockText, at: string, placement: Placement | undefined): ResolvedText => {
    if (typeof value === 'string') return [{ kind: 'text', text: finishedText(value, slots, at, problems) }];
    return value.flatMap((part): ResolvedText => {
      if (part.kind === 'text')
        return [{ kind: 'text', text: finishedText(part.text, slots, place(part, 'text'), problems) }];
      const refAt = place(part, 'refId');
      const snippet = refSnippet(part.refId);
      if (snippet === undefined) {
        problems.add('ref_unknown', refAt, `There is no ref "${part.refId}".`, () =>
          meantOrOneOf(
            part.refId,
            refSnippets.map(each => each.refId),
          ),
        );
        return [];
      }
      if (placement === undefined) {
        const message = 'A ref cannot stand in outputRequired.';
        problems.add('ref_placement', refAt, message, 'Put it into goal, constraints, procedure or verify.');
        return [];
      }
      const contentHash = hasher(snippet.text);
      const bytes = utf8Length(snippet.text);
      injections.push({ kind: 'ref', id: snippet.refId, contentHash, bytes, placement });
      return [{ kind: 'ref', refId: snippet.refId, refContentHash: contentHash, text: snippet.text }];
    });
  };
  const resolveList = (name: 'constraints' | 'procedure' | 'verify'): readonly ResolvedText[] | undefined => {
    const list = source[name];
    return list?.map((item, index) => resolve(item, place(list, index), name));
  };

  const goal = source.goal === undefined ? undefined : resolve(source.goal, place(source, 'goal'), 'goal');
  const own = resolveList('constraints');
  const procedure = resolveList('procedure');
  const required = source.outputRequired;
  const outputRequired =
    required === undefined
      ? undefined
      : Object.keys(required)
          .sort()
          .map(key => ({ key, value: resolve(required[key] ?? '', place(required, key), undefined) }));
  const verify = resolveList('verify');
  const injected = injections.reduce((sum, each) => sum + each.bytes, 0);
  if (injected > limits.stepRefBytes) {
    const message = `Refs put ${injected} bytes into this step, more than ${limits.stepRefBytes}.`;
    problems.add('ref_budget', place(source), message, 'Use fewer refs in one step.');
  }
  const ofFeatures = features.flatMap(feature =>
    feature.stepGuidance.map((text): ResolvedText => [{ kind: 'text', text }]),
  );
  const constraints = own === undefined && ofFeatures.length === 0 ? undefined : [...(own ?? []), ...ofFeatures];
  const blocks: PromptBlocks = { goal, constraints, procedure, outputRequired, verify };
  return {
    blocks,
    text: renderBlocks(blocks),
    injections: [...injections, ...featureInjections(features, 'constraints', hasher)],
  };
}

/** Text that features added to a step, if any. */
export function featureInjections(
  features: readonly Feature[],
  placement: Placement,
  hasher: Hasher,
): readonly Injection[] {
  return features
    .filter(feature => feature.stepGuidance.length > 0)
    .map(feature => {
      const text = feature.stepGuidance.join('\n');
      return { kind: 'feature', id: feature.featureId, contentHash: hasher(text), bytes: utf8Length(text), placement };
    });
}

function renderBlocks(blocks: PromptBlocks): string {
  const line = (parts: ResolvedText) => parts.map(part => part.text).join('');
  const bullets = (items: readonly ResolvedText[]) => items.map(item => `- ${line(item)}`).join('\n');
  const sections: readonly (readonly [string, string | undefined])[] = [
    ['Goal', blocks.goal && line(blocks.goal)],
    ['Constraints', blocks.constraints && bullets(blocks.constraints)],
    ['Procedure', blocks.procedure?.map((item, index) => `${index + 1}. ${line(item)}`).join('\n')],
    ['Output Required', blocks.outputRequired?.map(({ key, value }) => `- **${key}**: ${line(value)}`).join('\n')],
    ['Verify', blocks.verify && bullets(blocks.verify)],
  ];
  return sections
    .filter(([, body]) => body !== undefined && body !== '')
    .map(([title, body]) => `## ${title}\n${body}`)
    .join('\n\n');
}
