import { useSettings } from '../settings/settings.ts';
import { momentWords } from '../story/words.ts';
import { useNow } from './use-now.ts';

/** A time in the format of the settings; hovering shows the full one. */
export function Moment({ at, className = '' }: { readonly at: string; readonly className?: string }) {
  const { time } = useSettings();
  const now = useNow(time === 'relative');
  return (
    <time dateTime={at} title={at} className={`mono whitespace-nowrap ${className}`}>
      {momentWords(at, time, now)}
    </time>
  );
}
