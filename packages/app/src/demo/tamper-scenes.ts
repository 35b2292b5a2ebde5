import { nodeHasher } from '@signalbox/journal';
import { canonicalJson } from '@signalbox/model';
import type { Scene } from './scene.ts';
import type { Stage } from './stage.ts';

/** The segment of the failing test. */
const SEGMENT = 'events/00000004-00000007.jsonl';
const MANIFEST = 'manifest.jsonl';

export const tamperScene: Scene<Stage> = {
  title: 'Somebody changes one byte of the past',
  async play(log, stage) {
    const original = stage.read(SEGMENT);
    stage.write(SEGMENT, withoutFailure(original));
    log.tell(`${SEGMENT} now says "testsFailed":0 instead of 1`);
    const report = stage.verify();
    if (!report.ok) return void log.claim(report.error.message, false);
    log.verdict(report.value);
    const { defect, health } = report.value;
    const isNamed = defect?.code === 'segment_digest_mismatch' && defect.file === SEGMENT && health === 'corrupt_tail';
    log.claim('the verifier names the file', isNamed);
    const salvaged = stage.openJournal().salvage();
    log.claim(
      'the 4 events before it are still valid, and can be salvaged',
      salvaged.ok && salvaged.value.view.length === 4,
    );
    const appended = await stage.append(stage.story.repair);
    log.claim('further appends are refused', !appended.ok && appended.error.code === 'SESSION_CORRUPT');

    stage.write(SEGMENT, original);
    const mended = stage.verify();
    log.claim('with the byte restored it is healthy again', mended.ok && mended.value.ok);
  },
};

export const rewriteScene: Scene<Stage> = {
  title: 'Somebody rewrites history, with matching digests',
  play(log, stage) {
    const [segment, manifest] = [stage.read(SEGMENT), stage.read(MANIFEST)];
    const kept = stage.verify();
    if (!kept.ok) return void log.claim(kept.error.message, false);
    const { head } = kept.value;
    log.tell(`the head was noted elsewhere: ${head}`);

    const forged = withoutFailure(segment);
    stage.write(SEGMENT, forged);
    stage.write(MANIFEST, withDigest(manifest, nodeHasher(forged)));
    log.tell('the same change as before, with a matching manifest record');
    const plain = stage.verify();
    const compared = stage.verify(head);
    if (!plain.ok || !compared.ok) return void log.claim('the journal can be verified', false);
    log.verdict(plain.value);
    log.claim('the files alone do not reveal it', plain.value.ok && plain.value.head !== head);
    log.verdict(compared.value, head);
    log.claim('the noted head does', compared.value.defect?.code === 'head_mismatch');

    stage.write(SEGMENT, segment);
    stage.write(MANIFEST, manifest);
    const mended = stage.verify(head);
    log.claim('with the true history restored, the head matches again', mended.ok && mended.value.ok);
  },
};

/** The same bytes except one: the test did not fail. */
function withoutFailure(segment: Buffer): Buffer {
  return Buffer.from(segment.toString().replace('"testsFailed":1', '"testsFailed":0'));
}

/** The manifest, with another digest for the segment. */
function withDigest(manifest: Buffer, sha256: string): Buffer {
  const lines = manifest
    .toString()
    .split('\n')
    .map(line => (line.includes(SEGMENT) ? canonicalJson({ ...JSON.parse(line), sha256 }) : line));
  return Buffer.from(lines.join('\n'));
}
