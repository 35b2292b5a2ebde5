import { useEffect, useState } from 'react';

const themes = ['system', 'dark', 'light'] as const;
type Theme = (typeof themes)[number];
const KEY = 'signalbox.theme';

/** Dark, light, or as the system has it. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(() => themes.find(name => name === localStorage.getItem(KEY)) ?? 'system');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(KEY, theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  return (
    <button type="button" className="button button-quiet" onClick={() => setTheme(next)} aria-label={`Theme: ${theme}`}>
      <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" className="theme-ring" />
        <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" className="theme-half" />
      </svg>
      <span className="max-sm:sr-only">{theme}</span>
    </button>
  );
}
