import { type FormEvent, useState } from 'react';

/** Asks for the token where the address did not bring one. */
export function Login({ isWrong, onToken }: { readonly isWrong: boolean; onToken(token: string): void }) {
  const [token, setToken] = useState('');
  const enter = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') onToken(token.trim());
  };
  return (
    <main className="login">
      <form onSubmit={enter} className="login-card">
        <h1>Signalbox</h1>
        <p className="text-muted">
          {isWrong
            ? 'The server does not know this token. It may have been started with another data directory.'
            : 'Open the address that the server printed, or paste its token here.'}
        </p>
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
