import { asJson, type TreeNode } from '@signalbox/model';
import { Suspense, useMemo, useState } from 'react';
import { JsonView } from '../shell/json-view.tsx';
import { lazyPart } from '../shell/lazy-part.ts';
import { Empty } from '../shell/notices.tsx';
import { planOutline, planXml } from './plan-text.ts';

const PlanGraph = lazyPart(() =>
  import('./plan-graph.tsx').then(({ PlanGraph: component }) => ({ default: component })),
);

const forms = ['graph', 'outline', 'xml', 'json'] as const;
type Form = (typeof forms)[number];
const formWords: Record<Form, string> = { graph: 'Graph', outline: 'Outline', xml: 'XML', json: 'JSON' };

interface PlanTabProps {
  readonly nodes: readonly TreeNode[];
  readonly current: string | undefined;
  onCurrent(node: string): void;
}

/** The whole plan of a frame, in the chosen form. */
export function PlanTab({ nodes, current, onCurrent }: PlanTabProps) {
  const [form, setForm] = useState<Form>('graph');
  if (nodes.length === 0) return <Empty title="Nothing rendered yet" />;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <fieldset className="views px-3 pt-2">
        <legend className="sr-only">View</legend>
        {forms.map(name => (
          <button key={name} type="button" className="view" aria-pressed={form === name} onClick={() => setForm(name)}>
            {formWords[name]}
          </button>
        ))}
      </fieldset>
      {form === 'graph' ? (
        <Suspense fallback={<Empty title="Drawing…" />}>
          <PlanGraph nodes={nodes} current={current} onCurrent={onCurrent} />
        </Suspense>
      ) : (
        <PlanText nodes={nodes} form={form} />
      )}
    </div>
  );
}

function PlanText({ nodes, form }: { readonly nodes: readonly TreeNode[]; readonly form: 'outline' | 'xml' | 'json' }) {
  const text = useMemo(() => {
    if (form === 'json') return asJson(nodes);
    return form === 'xml' ? planXml(nodes) : planOutline(nodes);
  }, [nodes, form]);
  return <JsonView value={text} className="code code-whole" />;
}
