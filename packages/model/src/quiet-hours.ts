/** Times of the day, as `HH:MM`. */
interface QuietHours {
  readonly from: string;
  readonly to: string;
}

/** Whether a time of the day is in quiet hours, which may pass midnight; equal ends are none. */
export function isQuiet({ from, to }: QuietHours, time: string): boolean {
  if (from === to) return false;
  return from < to ? time >= from && time < to : time >= from || time < to;
}

/** The time of the day of a moment, where this code runs. */
export function timeOfDay(moment: Date): string {
  return `${String(moment.getHours()).padStart(2, '0')}:${String(moment.getMinutes()).padStart(2, '0')}`;
}
