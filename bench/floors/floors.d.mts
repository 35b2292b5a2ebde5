/** Each takes an empty directory and returns one unit of its work; see floors.mjs. */
type Floor = (directory: string, size?: number) => () => unknown;
export const append: Floor;
export const step: Floor;
export const batch: Floor;
export const read: Floor;
export const manifest: Floor;
