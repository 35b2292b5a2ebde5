import { stripVTControlCharacters } from 'node:util';
import type { ScreenSize } from './live-screen.ts';
import type { Screen } from './screen.ts';
import { widthOf } from './text-width.ts';

/** Lines at the end of a terminal, redrawn in place. */
export interface LiveDisplay {
  /** Draws one last time and leaves the lines above later output. */
  close(): void;
}

const INTERVAL_MS = 100;
const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
/** Terminals that support synchronized output show everything in between at once. */
const [BEGIN, END] = [`${ESC}?2026h`, `${ESC}?2026l`];

/** Draws at most ten times a second, and only if something changed. Other output stays above the drawn lines. */
export function openDisplay(screen: Screen, draw: (size: ScreenSize, now: number) => readonly string[]): LiveDisplay {
  let drawn: readonly string[] = [];
  let width = 0;
  let isMidLine = false;

  /** Clears from the first drawn line on. A terminal that became narrower has wrapped the lines. */
  const erase = (columns: number) => {
    if (drawn.length === 0) return '';
    const rows = drawn.reduce((sum, line) => sum + rowsOf(line, columns), 0);
    return `\r${rows > 1 ? `${ESC}${rows - 1}A` : ''}${ESC}J`;
  };
  const paint = () => {
    const size = screen.size();
    const lines = draw(size, screen.now());
    if (size.width === width && lines.length === drawn.length && lines.every((line, at) => line === drawn[at])) return;
    const start = isMidLine ? '\n' : erase(size.width);
    screen.write(`${BEGIN}${start}${lines.join('\n')}${END}`);
    drawn = lines;
    width = size.width;
    isMidLine = false;
  };

  screen.write(HIDE_CURSOR);
  const stopDrawing = screen.every(INTERVAL_MS, paint);
  const stopListening = screen.beforeOthersWrite(text => {
    if (text === '') return;
    if (drawn.length > 0) screen.write(erase(screen.size().width));
    drawn = [];
    isMidLine = !text.endsWith('\n');
  });
  const restore = () => screen.write(`${drawn.length > 0 || isMidLine ? '\n' : ''}${SHOW_CURSOR}`);
  const stopGuarding = screen.beforeEnd(restore);
  paint();
  return {
    close() {
      stopDrawing();
      paint();
      stopListening();
      stopGuarding();
      restore();
    },
  };
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / Math.max(1, columns)));
}
