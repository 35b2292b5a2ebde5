import { memo, Suspense } from 'react';
import type { AgentFacts, PlanStep } from '../inspector/attempts.ts';
import { Block, Pair } from '../inspector/block.tsx';
import { PatchFiles } from '../run/patch.tsx';
import { Lamp } from '../shell/lamp.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import type { Signal } from '../story/words.ts';
import type { TranscriptRow } from './transcript-rows.ts';
import { fromWords, words } from './words.ts';

const Prose = lazyPart(() => import('../shell/prose.tsx').then(({ Prose: one }) => ({ default: one })));

type PartRow = Extract<TranscriptRow, { readonly kind: 'part' }>;

/** What an agent said, thought or was told. Markdown is rendered; HTML in it stays text. */
export function PartView({ part }: Pick<PartRow, 'part'>) {
  switch (part.kind) {
    case 'said':
      return <Said text={part.text} />;
    case 'thought':
      return <Folded title={words.thought} text={part.text} />;
    case 'prompt':
      return <Folded title={words.prompt} text={part.text} />;
    case 'note':
      return <p className="said-note">{part.text}</p>;
    case 'person':
      return (
        <div className="said-person">
          <p className="eyebrow">{words.you(part.by, part.isRead)}</p>
          <p className="whitespace-pre-wrap">{part.text}</p>
        </div>
      );
    case 'changes':
      return (
        <div className="said-changes">
          <p>{part.isApplied ? words.applied : words.notApplied}</p>
          <PatchFiles patch={part.patch} />
        </div>
      );
  }
}

/** Drawn again only when its text changes: while an agent speaks, only the last one does. */
const Said = memo(function Said({ text }: { readonly text: string }) {
  return (
    <Suspense fallback={<p className="said whitespace-pre-wrap">{text}</p>}>
      <Prose text={text} />
    </Suspense>
  );
});

/** A text that is out of the way until somebody wants it: only its first line is shown. */
function Folded({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <details className="said-folded">
      <summary>
        <span>{title}</span>
        <span className="truncate">{text.trim().split('\n')[0]}</span>
      </summary>
      <p>{text}</p>
    </details>
  );
}

export function AgentPairs({ agent }: { readonly agent: AgentFacts }) {
  const { title, version, from, session, asking, onLayer } = agent;
  return (
    <dl className="pairs">
      <Pair name={words.agent}>
        {title} {version} {from !== undefined && <span className="text-muted">({fromWords[from] ?? from})</span>}
      </Pair>
      {session !== undefined && (
        <Pair name={words.session}>
          <code>{session}</code>
        </Pair>
      )}
      {asking !== undefined && <Pair name={words.asking}>{asking}</Pair>}
      <Pair name={words.worksOn}>{onLayer ? words.onLayer : words.onDirectory}</Pair>
    </dl>
  );
}

const stepSignals: Readonly<Record<string, Signal>> = { completed: 'done', in_progress: 'working', pending: 'idle' };
const stepWords: Readonly<Record<string, string>> = { completed: 'done', in_progress: 'in progress', pending: 'to do' };

export function AgentPlan({ steps }: { readonly steps: readonly PlanStep[] }) {
  return (
    <Block title={words.plan}>
      <ol className="agent-plan">
        {steps.map(({ text, status }, index) => (
          <li key={`${index} ${text}`} data-status={status}>
            <Lamp signal={stepSignals[status] ?? 'idle'} />
            <span className="min-w-0">{text}</span>
            <span className="text-muted">{stepWords[status] ?? status}</span>
          </li>
        ))}
      </ol>
    </Block>
  );
}
