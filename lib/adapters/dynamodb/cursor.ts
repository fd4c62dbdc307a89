/** Where a listing goes on, as an opaque text. */
export const encodeCursor = (key: Record<string, unknown> | null): string | null =>
  key === null ? null : Buffer.from(JSON.stringify(key)).toString('base64url');

export const decodeCursor = (cursor: string | null | undefined): Record<string, unknown> | null =>
  cursor == null ? null : (JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Record<string, unknown>);
