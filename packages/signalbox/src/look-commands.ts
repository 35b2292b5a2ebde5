import type { FrameRange, Reader, RunRecord, TransitionView } from '@signalbox/app/host';
import { InvalidArgumentError } from 'commander';
import type { DefineCommand } from './command.ts';
import { looking } from './look.ts';
import { shown, type Terminal } from './terminal.ts';

/** Page size. */
const PAGE = 500;

export const defineState: DefineCommand = looking(async (reader, run, json, terminal) => {
  const state = run.frames === 0 ? new Map() : await reader.at(run.id, 'state', run.frames);
  const values = Object.fromEntries([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
  terminal.print(json ? JSON.stringify(values) : JSON.stringify(values, null, 2));
});

export const defineEvents: DefineCommand = looking(async (reader, run, json, terminal) => {
  for (let from = 0; from < run.nextSeq; from += PAGE) {
    for (const stored of await reader.events(run.id, from, PAGE)) {
      const { seq, ts, type } = stored.event;
      terminal.print(json ? JSON.stringify(stored) : `${String(seq).padStart(6)} ${ts} ${type}`);
    }
  }
});

export const defineFrames: DefineCommand = (command, context) => {
  command.option('--from <n>', 'first frame', count).option('--to <n>', 'last frame', count);
  looking(async (reader, run, json, terminal) => {
    const { from = 0, to = run.frames - 1 } = command.opts<{ readonly from?: number; readonly to?: number }>();
    await printFrames(reader, run, { from, to: Math.min(to, run.frames - 1) }, json, terminal);
  })(command, context);
};

export const defineTransitions: DefineCommand = (command, context) => {
  command.option('--last <n>', 'only the last n', count);
  looking(async (reader, run, json, terminal) => {
    const { last } = command.opts<{ readonly last?: number }>();
    const print = (change: TransitionView) => terminal.print(json ? JSON.stringify(change) : describeChange(change));
    let kept: TransitionView[] = [];
    for await (const page of pagesOf(reader, run)) {
      if (last === undefined) for (const change of page) print(change);
      else kept = last === 0 ? [] : [...kept, ...page].slice(-last);
    }
    for (const change of kept) print(change);
  })(command, context);
};

async function printFrames(
  reader: Reader,
  { id, collected = [] }: RunRecord,
  { from, to }: FrameRange,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const tellGap = (until: number, next: number) => {
    for (const gap of collected) {
      if (json || gap.to < next || gap.from >= until) continue;
      terminal.print(`       frames ${Math.max(gap.from, next)} to ${Math.min(gap.to, until - 1)} were collected`);
    }
  };
  let next = from;
  while (next <= to) {
    const page = await reader.frames(id, next, PAGE);
    for (const frame of page) {
      if (frame.index > to) break;
      tellGap(frame.index, next);
      next = frame.index + 1;
      const { index, at, trigger, mounted, unmounted, written, planVersion = 1 } = frame;
      const made = planVersion === 1 ? '' : `, plan version ${planVersion}`;
      const changes = `+${mounted.length} -${unmounted.length} nodes${written.length > 0 ? `, wrote ${written.map(shown).join(' ')}` : ''}`;
      terminal.print(
        json
          ? JSON.stringify({ ...frame, planVersion })
          : `${String(index).padStart(6)} ${at} ${trigger.kind.padEnd(8)} ${changes}${made}`,
      );
    }
    if (page.length === 0 || (page.at(-1)?.index ?? 0) >= to) break;
  }
  tellGap(to + 1, next);
}

async function* pagesOf(reader: Reader, { id }: RunRecord): AsyncGenerator<readonly TransitionView[]> {
  let filter: Parameters<Reader['transitions']>[1] = {};
  for (;;) {
    const page = await reader.transitions(id, filter);
    yield page.items;
    if (page.next === undefined) return;
    filter = { from: page.next };
  }
}

function describeChange(change: TransitionView): string {
  const why = [change.trigger, change.handler, change.node]
    .filter(part => part !== undefined)
    .map(shown)
    .join(' ');
  const values = `${JSON.stringify(change.old) ?? '–'} → ${JSON.stringify(change.new) ?? '–'}`;
  return `${String(change.frame).padStart(6)} ${shown(change.key)}: ${shown(values)}  ${why}`;
}

function count(given: string): number {
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('It must be a whole number.');
}
