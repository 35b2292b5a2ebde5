/** The few globals that every JavaScript platform has but the ECMAScript library does not declare. */
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}

declare class TextDecoder {
  constructor(encoding?: string, options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean });
  decode(bytes?: ArrayBufferView | ArrayBuffer, options?: { readonly stream?: boolean }): string;
}

interface AbortSignal {
  readonly aborted: boolean;
}
