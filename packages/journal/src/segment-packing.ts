/**
 * Compression of segments. The manifest attests a segment's uncompressed content, so neither records nor heads depend on it, and a
 * journal may mix both forms.
 */
export interface SegmentPacking {
  /** The file name suffix of a packed segment. */
  readonly suffix: string;
  pack(segment: Uint8Array): Uint8Array;
  /** Undefined if the bytes are not one packed segment, or unpack to more than `maxLength`. */
  unpack(packed: Uint8Array, maxLength: number): Uint8Array | undefined;
}
