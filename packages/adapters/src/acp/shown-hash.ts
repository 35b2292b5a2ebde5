import { canonicalJson, type Digest, type Json, type SecretMac } from '@signalbox/model';

/** The hash of a whole proposal, of which a person may be shown less: two that differ in a secret only are two proposals (R42). */
export function shownAs(full: Json, mac: SecretMac): { readonly proposalHash: Digest } {
  return { proposalHash: `sha256:${mac(`proposal ${canonicalJson(full)}`)}` as Digest };
}
