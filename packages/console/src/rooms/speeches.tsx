import type { TreeNode, WireTask } from '@signalbox/model';
import { useEffect, useRef } from 'react';
import { Lamp } from '../frame/lamp.tsx';
import type { Speech } from '../story/run-story.ts';

interface SpeechesProps {
  readonly tasks: readonly WireTask[];
  readonly nodes: ReadonlyMap<string, TreeNode>;
  readonly speech: ReadonlyMap<string, Speech>;
}

/** What the agents that work now are saying. */
export function Speeches({ tasks, nodes, speech }: SpeechesProps) {
  const speaking = tasks.filter(({ id, status }) => status === 'running' && speech.has(id));
  if (speaking.length === 0) return null;
  return (
    <section aria-labelledby="live-title" className="panel">
      <h2 id="live-title">Live</h2>
      {speaking.map(task => (
        <article key={task.id} className="speech" aria-label={nodes.get(task.node)?.label ?? task.node}>
          <h3>
            <Lamp signal="working" />
            {nodes.get(task.node)?.label ?? task.node}
            <span className="kind">{nodes.get(task.node)?.kind}</span>
          </h3>
          <Tail text={speech.get(task.id)?.text ?? ''} />
        </article>
      ))}
    </section>
  );
}

function Tail({ text }: { readonly text: string }) {
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return <pre ref={box}>{text}</pre>;
}
