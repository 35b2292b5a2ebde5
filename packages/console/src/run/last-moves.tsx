import { Lamp } from '../shell/lamp.tsx';
import { Panel } from '../shell/panel.tsx';
import { lastMoves } from '../story/last-moves.ts';
import type { RunStory } from '../story/run-story.ts';

const SHOWN = 10;

interface LastMovesProps {
  readonly story: RunStory;
  onCurrent(node: string): void;
  onFrame(frame: number): void;
}

/** The last things that nodes, handlers and people did: how it came to this. Each leads to the frame that shows it. */
export function LastMoves({ story: { events, nodes }, onCurrent, onFrame }: LastMovesProps) {
  const moves = lastMoves(events, SHOWN);
  if (moves.length === 0) return null;
  return (
    <Panel title="How it came to this">
      <ol className="moves">
        {moves.map(({ seq, at, signal, node, who, words, frame }) => (
          <li key={seq}>
            <Lamp signal={signal} />
            {node !== undefined && (
              <button type="button" className="linklike" onClick={() => onCurrent(node)}>
                {nodes.get(node)?.label ?? node}
              </button>
            )}
            <span className="move-words">
              {who !== undefined && <strong className="who">{who}</strong>}
              {words}
            </span>
            {frame !== undefined && (
              <button type="button" className="move-frame" title={`Look at it: ${at}`} onClick={() => onFrame(frame)}>
                frame {frame}
              </button>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
