import { useSettings } from '../settings/settings.ts';
import { momentWords } from '../story/words.ts';
import { useNow } from './use-now.ts';

/** A time as the person wants to read it; the whole of it is one hover away. */
export function Moment({ at, className = '' }: { readonly at: string; readonly className?: string }) {
  const { time } = useSettings();
  const now = useNow(time === 'relative');
  return (
    <time dateTime={at} title={at} className={`mono whitespace-nowrap ${className}`}>
      {momentWords(at, time, now)}
    </time>
  );
}
