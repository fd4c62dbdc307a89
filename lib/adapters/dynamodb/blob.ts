import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export const gzipJson = async (value: unknown): Promise<Uint8Array> => new Uint8Array(await zip(JSON.stringify(value)));
export const gunzipJson = async (body: Uint8Array): Promise<unknown> => JSON.parse((await unzip(body)).toString());
