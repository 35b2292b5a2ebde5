import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** The same picture in fewer bytes: pages have large even areas, which compress best as they are, without the filters of photographs. */
export function smallPng(png: Buffer): Buffer {
  const chunks = chunksOf(png);
  const header = chunks.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13);
  const [width, height, depth, colour] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9]];
  const bytes = depth === 8 && colour === 2 ? 3 : depth === 8 && colour === 6 ? 4 : undefined;
  if (bytes === undefined) return png;
  const rows = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const plain = deflateSync(unfiltered(rows, width * bytes, height, bytes), { level: 9, memLevel: 9 });
  const kept = [chunk('IHDR', header), chunk('IDAT', plain), chunk('IEND', Buffer.alloc(0))];
  const small = Buffer.concat([png.subarray(0, 8), ...kept]);
  return small.length < png.length ? small : png;
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function chunksOf(png: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Each row with filter 0. The filters are those of the PNG specification, section 9. */
function unfiltered(rows: Buffer, stride: number, height: number, bytes: number): Buffer {
  const plain = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y += 1) {
    const from = y * (stride + 1);
    const filter = rows[from];
    for (let x = 1; x <= stride; x += 1) {
      const left = x > bytes ? (plain[from + x - bytes] ?? 0) : 0;
      const up = y > 0 ? (plain[from - stride - 1 + x] ?? 0) : 0;
      const corner = x > bytes && y > 0 ? (plain[from - stride - 1 + x - bytes] ?? 0) : 0;
      plain[from + x] = ((rows[from + x] ?? 0) + predicted(filter ?? 0, left, up, corner)) & 255;
    }
  }
  return plain;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default:
      return 0;
  }
}
