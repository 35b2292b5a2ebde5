import type { ReactNode } from 'react';
import type { Link } from '../story/link.ts';

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

interface ErrorBoxProps {
  readonly error: { readonly code: string; readonly message: string; readonly suggestion?: string };
  readonly title: string;
  readonly children?: ReactNode;
}

/** An error as the server gave it: what happened, and what to do next. */
export function ErrorBox({ error, title, children }: ErrorBoxProps) {
  return (
    <section role="alert" className="errorbox">
      <h2>{title}</h2>
      <pre className="errorbox-words">{error.message}</pre>
      {error.suggestion !== undefined && <p className="text-muted">{error.suggestion}</p>}
      <code>{error.code}</code>
      {children}
    </section>
  );
}

/** A page that the server does not give: its name, and why. */
export function Refused({ page, ...box }: ErrorBoxProps & { readonly page: string }) {
  return (
    <div className="room">
      <title>{`${page} · Signalbox`}</title>
      <header className="roomhead">
        <h1>{page}</h1>
      </header>
      <ErrorBox {...box} />
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
