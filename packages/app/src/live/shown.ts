import type { RunId, RunOutline, ServerMessage } from '@signalbox/model';
import type { RunPicture } from './run-picture.ts';

/**
 * What a client was shown of a run last. Clients that were shown the same picture get the same message objects for the next one: it is
 * compared, and then serialized, once for all of them.
 */
export class Shown {
  private seq = 0;
  private texts: PictureTexts = NOTHING;

  begin({ record, tree, decisions, tasks }: RunOutline): void {
    this.seq = record.nextSeq;
    this.texts = textsOf({ tree, decisions, tasks });
  }

  /** The messages that update the client to this picture. */
  messagesFor(picture: RunPicture): readonly ServerMessage[] {
    const { nextSeq } = picture.summary.record;
    if (nextSeq < this.seq) return [];
    this.seq = nextSeq;
    const before = this.texts;
    this.texts = textsOfPicture(picture);
    return before === this.texts ? [] : stepTo(picture, before, this.texts);
  }
}

interface PictureTexts {
  readonly nodes: ReadonlyMap<string, string>;
  readonly decisions: string;
  readonly tasks: string;
  readonly summary: string;
}

const NOTHING: PictureTexts = { nodes: new Map(), decisions: '', tasks: '', summary: '' };

const known = new WeakMap<RunPicture, PictureTexts>();
/** The messages from one picture to another, by the later one. */
const steps = new WeakMap<PictureTexts, WeakMap<PictureTexts, readonly ServerMessage[]>>();

function textsOfPicture(picture: RunPicture): PictureTexts {
  const texts = known.get(picture) ?? textsOf(picture);
  known.set(picture, texts);
  return texts;
}

function textsOf({ tree, decisions, tasks, summary }: Omit<RunPicture, 'summary'> & Partial<RunPicture>): PictureTexts {
  return {
    nodes: new Map(tree.map(node => [node.id, JSON.stringify(node)])),
    decisions: JSON.stringify(decisions),
    tasks: JSON.stringify(tasks),
    summary: summary === undefined ? '' : JSON.stringify(summary),
  };
}

function stepTo(picture: RunPicture, before: PictureTexts, after: PictureTexts): readonly ServerMessage[] {
  const fromOthers = steps.get(after) ?? new WeakMap<PictureTexts, readonly ServerMessage[]>();
  steps.set(after, fromOthers);
  const messages = fromOthers.get(before) ?? differences(picture, before, after);
  fromOthers.set(before, messages);
  return messages;
}

function differences(
  { summary, tree, decisions, tasks }: RunPicture,
  before: PictureTexts,
  after: PictureTexts,
): readonly ServerMessage[] {
  const run: RunId = summary.id;
  const put = tree.filter(node => before.nodes.get(node.id) !== after.nodes.get(node.id));
  const gone = [...before.nodes.keys()].filter(id => !after.nodes.has(id));
  return [
    ...(put.length + gone.length > 0 ? [{ kind: 'nodes' as const, run, put, gone }] : []),
    ...(before.tasks === after.tasks ? [] : [{ kind: 'tasks' as const, run, tasks }]),
    ...(before.decisions === after.decisions ? [] : [{ kind: 'decisions' as const, run, decisions }]),
    ...(before.summary === after.summary ? [] : [{ kind: 'run' as const, run, summary }]),
  ];
}
