import { exactParts } from '../story/exact-text.ts';

/** A text that a person decides about: what is in it and cannot be seen is shown by its number. */
export function Exact({ children: text }: { readonly children: string }) {
  const parts = exactParts(text);
  if (parts.length === 1 && parts[0]?.isHidden === false) return text;
  return parts.map((part, index) =>
    part.isHidden ? (
      <span key={index} className="hidden-char" title="A character that is not seen, and may change how the rest looks">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}
