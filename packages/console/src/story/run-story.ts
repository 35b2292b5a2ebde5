import type { News } from '@signalbox/client';
import type {
  ErrorEnvelope,
  Json,
  RunSummary,
  TreeNode,
  WireChunk,
  WireDecision,
  WireEvent,
  WireFault,
  WireTask,
} from '@signalbox/model';
import { callWords } from '../transcript/call-words.ts';
import { isObject } from './json-object.ts';
import type { Link } from './link.ts';
import { lasted } from './words.ts';

/** A frame on the timeline. */
export interface FrameMark {
  readonly index: number;
  readonly at: string;
  readonly trigger: string;
  /** How many keys of state changed since the previous one. */
  readonly changes: number;
}

/** An agent's output so far in a task, as far as it is loaded here. */
interface Speech {
  readonly text: string;
  /** The next chunk. */
  readonly next: number;
}

/** Everything that the page knows about a run. */
export interface RunStory {
  readonly link: Link;
  readonly summary?: RunSummary;
  /** The run's input. */
  readonly input?: Json;
  /** The run's output, if it had ended when the page opened; null for none. */
  readonly output?: Json;
  readonly fault?: WireFault;
  readonly nodes: ReadonlyMap<string, TreeNode>;
  readonly decisions: readonly WireDecision[];
  readonly tasks: readonly WireTask[];
  /** The latest ones, oldest first. */
  readonly events: readonly WireEvent[];
  /** Why the events before the page opened could not be read. */
  readonly eventsFault?: ErrorEnvelope;
  readonly frames: readonly FrameMark[];
  readonly speech: ReadonlyMap<string, Speech>;
  /** The handlers that reacted to a node, as far as the loaded events show. */
  readonly handlers: ReadonlyMap<string, readonly string[]>;
}

export const EVENTS_KEPT = 2_000;
const FRAMES_KEPT = 100_000;
const SPEECH_LENGTH = 12_000;

export const emptyStory: RunStory = {
  link: { status: 'connecting' },
  nodes: new Map(),
  decisions: [],
  tasks: [],
  events: [],
  frames: [],
  speech: new Map(),
  handlers: new Map(),
};

/** The story after a message of the server. */
export function toldStory(story: RunStory, news: News): RunStory {
  switch (news.kind) {
    case 'connection':
      return { ...story, link: news };
    case 'state': {
      const { snapshot } = news;
      return withSummary(
        {
          ...story,
          input: snapshot.input,
          ...(snapshot.record.endedAt !== undefined && { output: snapshot.output ?? null }),
          nodes: new Map(snapshot.tree.map(node => [node.id, node])),
          decisions: snapshot.decisions,
          tasks: snapshot.tasks,
          // Earlier events are read again: there may be a gap between those loaded and the new ones.
          events: story.events.at(-1)?.seq === news.next - 1 ? story.events : [],
        },
        snapshot,
      );
    }
    case 'run':
      return withSummary(story, news.summary);
    case 'nodes': {
      const nodes = new Map(story.nodes);
      for (const node of news.put) nodes.set(node.id, node);
      for (const id of news.gone) nodes.delete(id);
      return { ...story, nodes };
    }
    case 'decisions':
      return { ...story, decisions: news.decisions };
    case 'tasks':
      return { ...story, tasks: news.tasks };
    case 'event':
      return withEvents(story, [news.stored.event]);
    case 'stream':
      return withSpeech(story, news.task, news.chunks, news.next);
    case 'runs':
    case 'providers':
    case 'fleet':
    case 'refused':
      return story;
  }
}

/** Adds events that are newer than those it has, or older if it has none of them. */
export function withEvents(story: RunStory, events: readonly WireEvent[]): RunStory {
  const first = story.events[0]?.seq ?? Number.POSITIVE_INFINITY;
  const last = story.events.at(-1)?.seq ?? -1;
  const before = events.filter(({ seq }) => seq < first && last !== -1);
  const after = events.filter(({ seq }) => seq > last);
  return {
    ...story,
    events: [...before, ...story.events, ...after].slice(-EVENTS_KEPT),
    frames: withFrames(story.frames, events.flatMap(frameOf)),
    handlers: withHandlers(story.handlers, events),
  };
}

function withHandlers(known: RunStory['handlers'], events: readonly WireEvent[]): RunStory['handlers'] {
  let handlers: Map<string, readonly string[]> | undefined;
  for (const { type, node, handler } of events) {
    if (!(type === 'handler.ran' || type === 'handler.failed')) continue;
    if (typeof node !== 'string' || typeof handler !== 'string') continue;
    const before = (handlers ?? known).get(node) ?? [];
    if (before.includes(handler)) continue;
    handlers ??= new Map(known);
    handlers.set(node, [...before, handler]);
  }
  return handlers ?? known;
}

/** Adds missing frames, in order. */
export function withFrames(frames: readonly FrameMark[], added: readonly FrameMark[]): readonly FrameMark[] {
  const last = frames.at(-1)?.index ?? -1;
  const first = frames[0]?.index ?? Number.POSITIVE_INFINITY;
  const news = added.filter(({ index }) => index > last || index < first);
  if (news.length === 0) return frames;
  return [...frames, ...news].toSorted((a, b) => a.index - b.index).slice(-FRAMES_KEPT);
}

/** Adds output that directly follows the loaded part. Duplicates are ignored; output after a gap is left out, and read in order. */
export function withSpeech(story: RunStory, task: string, chunks: readonly WireChunk[], next: number): RunStory {
  const before = story.speech.get(task) ?? { text: '', next: 0 };
  const fresh = chunks.filter(({ index }) => index >= before.next);
  if (fresh[0]?.index !== before.next) return story;
  const text = (before.text + fresh.map(spoken).join('')).slice(-SPEECH_LENGTH);
  return { ...story, speech: new Map(story.speech).set(task, { text, next }) };
}

function withSummary(story: RunStory, summary: RunSummary): RunStory {
  const { fault: _, ...rest } = story;
  const { error } = summary.record;
  return { ...rest, summary, ...(error !== undefined && { fault: error }) };
}

function frameOf(event: WireEvent): readonly FrameMark[] {
  if (event.type !== 'frame.committed' || typeof event.frame !== 'number') return [];
  const { kind, keys } = event.trigger as { readonly kind?: string; readonly keys?: readonly string[] };
  return [{ index: event.frame, at: event.ts, trigger: kind ?? 'state', changes: keys?.length ?? 0 }];
}

/** A chunk as text. */
export function spoken({ kind, payload }: WireChunk): string {
  const text = textOf(payload);
  switch (kind) {
    case 'token':
    case 'thinking':
      return text ?? '';
    case 'tool_start':
      return toolLine(payload, '›') ?? `\n${text ?? JSON.stringify(payload)}\n`;
    case 'tool_end':
      return toolLine(payload, '‹') ?? `\n${text ?? JSON.stringify(payload)}\n`;
    case 'message':
      return '\n';
  }
}

function textOf(payload: WireChunk['payload']): string | undefined {
  if (typeof payload === 'string') return payload;
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined;
  const { text } = payload as { readonly text?: unknown };
  return typeof text === 'string' ? text : undefined;
}

/** The call whose inner calls an agent of another vendor tells by itself. */
const AGENT_TURN = 'agent_turn';

/** A call in words as it begins, and its outcome as it ends. */
function toolLine(payload: WireChunk['payload'], mark: string): string | undefined {
  if (!isObject(payload) || typeof payload.tool !== 'string') return undefined;
  const { tool, input = null, outcome, title, ms } = payload;
  if (tool === AGENT_TURN) return '';
  const { does, target } = callWords(tool, input, typeof title === 'string' ? title : undefined);
  const end = [typeof outcome === 'string' ? outcome : '', typeof ms === 'number' ? lasted(ms) : ''].filter(Boolean);
  return `\n${mark} ${[does, target].filter(Boolean).join(' ')}${end.length > 0 ? `: ${end.join(', ')}` : ''}\n`;
}
