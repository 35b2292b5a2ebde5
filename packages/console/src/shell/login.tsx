import { type FormEvent, useState } from 'react';

/** Asks for a token where the address did not bring one, and says why the last one was refused. */
export function Login({ problem, onToken }: { readonly problem: string | undefined; onToken(token: string): void }) {
  const [token, setToken] = useState('');
  const enter = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') onToken(token.trim());
  };
  return (
    <main className="login">
      <form onSubmit={enter} className="login-card">
        <h1>Signalbox</h1>
        <p className="text-muted">{problem ?? 'Open a link that "signalbox link" prints, or paste a token here.'}</p>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          onChange={event => setToken(event.target.value)}
        />
        <button type="submit" className="button button-main">
          Enter
        </button>
      </form>
    </main>
  );
}
