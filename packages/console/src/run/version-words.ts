/** Which version of its plan made a frame; nothing where there was only the first. */
export function versionWords(planVersion: number): string {
  return planVersion > 1 ? `Plan version ${planVersion} made it. ` : '';
}
