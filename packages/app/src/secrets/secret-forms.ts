import { SHORTEST_SECRET } from '@signalbox/model';

/** The forms of a value in text: plain, escaped and encoded. */
export function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'utf8');
  const quoted = JSON.stringify(value).slice(1, -1);
  const address = encodeURIComponent(value.toWellFormed());
  const forms = [
    value,
    // As bytes of a file are read, one character each.
    bytes.toString('latin1'),
    quoted,
    // Escaping of everything that is not ASCII, and double escaping.
    quoted.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    JSON.stringify(quoted).slice(1, -1),
    address,
    address.replaceAll('%20', '+'),
    address.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
    encodeURI(value.toWellFormed()),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...[0, 1, 2].flatMap(shift => base64Within(bytes, shift)),
  ];
  return [...new Set(forms)].filter(form => form.length >= SHORTEST_SECRET);
}

/** The base64 form of these bytes after `shift` other bytes, whatever follows. */
function base64Within(bytes: Buffer, shift: number): readonly string[] {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const whole = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
}
