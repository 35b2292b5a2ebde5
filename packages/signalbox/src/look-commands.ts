import type { Reader } from '@signalbox/app/runs';
import type { DefineCommand } from './command.ts';
import { looking } from './look.ts';
import { shown } from './terminal.ts';

/** How much is read at a time. */
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

export const defineFrames: DefineCommand = looking(async (reader, run, json, terminal) => {
  for (let from = 0; from < run.frames; from += PAGE) {
    for (const frame of await reader.frames(run.id, from, PAGE)) {
      const { index, at, trigger, mounted, unmounted, written } = frame;
      const changes = `+${mounted.length} -${unmounted.length} nodes${written.length > 0 ? `, wrote ${written.map(shown).join(' ')}` : ''}`;
      terminal.print(
        json ? JSON.stringify(frame) : `${String(index).padStart(6)} ${at} ${trigger.kind.padEnd(8)} ${changes}`,
      );
    }
  }
});

export const defineTransitions: DefineCommand = looking(async (reader, run, json, terminal) => {
  let from: Parameters<Reader['transitions']>[1] = {};
  for (;;) {
    const page = await reader.transitions(run.id, from);
    for (const change of page.items) {
      const why = [change.trigger, change.handler, change.node]
        .filter(part => part !== undefined)
        .map(shown)
        .join(' ');
      const values = `${JSON.stringify(change.old) ?? '–'} → ${JSON.stringify(change.new) ?? '–'}`;
      terminal.print(
        json
          ? JSON.stringify(change)
          : `${String(change.frame).padStart(6)} ${shown(change.key)}: ${shown(values)}  ${why}`,
      );
    }
    if (page.next === undefined) return;
    from = { from: page.next };
  }
});
