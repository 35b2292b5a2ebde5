/**
 * How segments are kept in less room. What the manifest attests is what a segment holds, so neither records nor heads depend on it,
 * and a journal may have segments of both forms.
 */
export interface SegmentPacking {
  /** Comes after the name of a segment that is packed. */
  readonly suffix: string;
  pack(segment: Uint8Array): Uint8Array;
  /** Undefined where the bytes are not one packed segment, or hold more than `maxLength`. */
  unpack(packed: Uint8Array, maxLength: number): Uint8Array | undefined;
}
