/** A row as DynamoDB holds it: its key and whatever its codec has put in. */
export type Row = Record<string, unknown> & { pk: string; sk: string };
