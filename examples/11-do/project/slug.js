/** A title as it stands in an address. */
export function slug(title) {
  return title.toLowerCase().replace(' ', '-');
}
