import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { hostScreen } from './screen.ts';

function stdout(fields: { readonly isTTY: boolean; readonly columns?: number; readonly rows?: number }) {
  return Object.assign(new PassThrough({ encoding: 'utf8' }), fields) as unknown as NodeJS.WriteStream & PassThrough;
}

describe('the screen of a process', () => {
  it('is there for a terminal that can be drawn on, and nowhere else', () => {
    expect(hostScreen(stdout({ isTTY: false }), { TERM: 'xterm' })).toBeUndefined();
    expect(hostScreen(stdout({ isTTY: true }), { TERM: 'dumb' })).toBeUndefined();
    expect(hostScreen(stdout({ isTTY: true, columns: 0 }), {})?.size()).toEqual({ width: 80, height: 24 });
    expect(hostScreen(stdout({ isTTY: true, columns: 40, rows: 9 }), {})?.size()).toEqual({ width: 40, height: 9 });
  });

  it('tells of what others write before it is written, and not of what it writes itself', () => {
    const stream = stdout({ isTTY: true });
    const screen = hostScreen(stream, {});
    const seen: string[] = [];
    const stop = screen?.beforeOthersWrite(text => seen.push(`${text} after ${stream.read()}`));
    screen?.write('mine');
    stream.write('theirs');
    stream.write(Buffer.from('bytes'));
    stop?.();
    stream.write('late');
    expect(seen).toEqual(['theirs after mine', 'bytes after theirs']);
    expect(stream.read()).toBe('byteslate');
  });

  it('draws when the size changes, until it is told to stop', () => {
    const stream = stdout({ isTTY: true });
    let drawn = 0;
    const stop = hostScreen(stream, {})?.every(2 ** 30, () => {
      drawn += 1;
    });
    stream.emit('resize');
    stop?.();
    stream.emit('resize');
    expect(drawn).toBe(1);
  });

  it('gives the terminal back at the end of the process, unless that is over', () => {
    const before = process.listenerCount('exit');
    const stop = hostScreen(stdout({ isTTY: true }), {})?.beforeEnd(() => {});
    expect(process.listenerCount('exit')).toBe(before + 1);
    stop?.();
    expect([process.listenerCount('exit'), process.listenerCount('SIGQUIT')]).toEqual([before, 0]);
  });
});
