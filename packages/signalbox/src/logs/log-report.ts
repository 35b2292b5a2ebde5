import type { LogLine } from '@signalbox/app/host';
import { type Paint, shown } from '../terminal.ts';

/** A log line for people; agents' output is indented under its node. */
export function describeLine({ timestamp, level, event, node, message }: LogLine, paint: Paint): string {
  if (event.startsWith('stream.')) return `  ${shown(node ?? '')} ${event.slice('stream.'.length)}: ${shown(message)}`;
  const who = node === undefined ? '' : ` ${paint.strong(shown(node))}`;
  const said = message === event ? '' : ` ${shown(message)}`;
  return `${paint.faint(timestamp)} ${levelOf(level, paint)} ${event}${who}${said}`;
}

function levelOf(level: LogLine['level'], paint: Paint): string {
  const text = level.padEnd(5);
  if (level === 'error' || level === 'fatal') return paint.bad(text);
  return level === 'warn' ? paint.doubtful(text) : paint.faint(text);
}
