/** The plan version that made a frame; empty if there was only one. */
export function versionWords(planVersion: number): string {
  return planVersion > 1 ? `Plan version ${planVersion} made it. ` : '';
}
