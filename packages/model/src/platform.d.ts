/** The few globals that every JavaScript platform has but the ECMAScript library does not declare. */
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}

interface AbortSignal {
  readonly aborted: boolean;
}
