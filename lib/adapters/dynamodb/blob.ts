import { promisify } from 'node:util';
import { gunzip, gzip, gzipSync } from 'node:zlib';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Up to so many characters, to hand it to another thread takes longer than to zip it here. */
const LITTLE = 1000;

export async function gzipJson(value: unknown): Promise<Uint8Array> {
  const text = JSON.stringify(value);
  return new Uint8Array(text.length <= LITTLE ? gzipSync(text) : await zip(text));
}

export const gunzipJson = async (body: Uint8Array): Promise<unknown> => JSON.parse((await unzip(body)).toString());
