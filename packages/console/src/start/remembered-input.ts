const KEY = 'signalbox.inputs';
const MOST = 50;

/** The input that was last given to a plan in this browser, as typed. */
export function rememberedInput(file: string): string {
  return read().find(([name]) => name === file)?.[1] ?? '';
}

export function rememberInput(file: string, text: string): void {
  const kept = [[file, text], ...read().filter(([name]) => name !== file)].slice(0, MOST);
  localStorage.setItem(KEY, JSON.stringify(kept));
}

function read(): readonly (readonly [file: string, text: string])[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isPair) : [];
  } catch {
    return [];
  }
}

function isPair(given: unknown): given is readonly [string, string] {
  return Array.isArray(given) && given.length === 2 && given.every(part => typeof part === 'string');
}
