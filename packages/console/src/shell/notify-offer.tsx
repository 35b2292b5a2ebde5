import { useState } from 'react';
import { changeSettings, useSettings } from '../settings/settings.ts';

const KEY = 'signalbox.offered';

/** Offers notifications once, when the first decision waits. */
export function NotifyOffer({ waiting }: { readonly waiting: number }) {
  const { notify } = useSettings();
  const [isOffered, setIsOffered] = useState(() => localStorage.getItem(KEY) !== null);
  const canAsk = 'Notification' in globalThis && Notification.permission === 'default';
  if (waiting === 0 || notify || isOffered || !canAsk) return null;
  const end = () => {
    localStorage.setItem(KEY, 'yes');
    setIsOffered(true);
  };
  const accept = async () => {
    end();
    if ((await Notification.requestPermission()) === 'granted') changeSettings({ notify: true });
  };
  return (
    <p className="banner banner-offer">
      Get a notification when a decision needs you?{' '}
      <button type="button" className="button button-small" onClick={() => void accept()}>
        Notify me
      </button>{' '}
      <button type="button" className="button button-small button-quiet" onClick={end}>
        No, thanks
      </button>
    </p>
  );
}
