import type { ErrorEnvelope } from '@signalbox/model';
import type { Link } from '../story/run-story.ts';

/** Says that what is shown may be old, for as long as there is no connection. */
export function LinkBanner({ link }: { readonly link: Link }) {
  if (link.status !== 'lost' && link.status !== 'ended') return null;
  return (
    <p role="status" className="banner">
      {link.status === 'lost'
        ? 'Reconnecting: the server does not answer. What you see is as it was.'
        : `Not connected: ${link.error.message}`}
    </p>
  );
}

/** An error as the server gave it: what happened, and what to do next. */
export function ErrorBox({ error, title }: { readonly error: ErrorEnvelope; readonly title: string }) {
  return (
    <section role="alert" className="errorbox">
      <h2>{title}</h2>
      <p>{error.message}</p>
      <p className="text-muted">{error.suggestion}</p>
      <code>{error.code}</code>
    </section>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: React.ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
