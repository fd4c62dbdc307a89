/**
 * Every key pattern of the one table, with the access pattern (DESIGN §4) it serves. `docs/data-model.md` is made from `KEYS`.
 * Parts come from ids (UUIDs) or are percent-encoded, so that no two names can meet and no prefix can swallow a longer name.
 */

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

export const COUNTER_SHARDS = 16;
export const DUE_SHARDS = 4;
const MAX_MILLIS_DIGITS = 14;

/** Free text as one key part. */
export const part = (text: string): string => encodeURIComponent(text);
/** An instant that sorts as text. */
export const instantPart = (at: number): string => String(Math.max(0, Math.trunc(at))).padStart(MAX_MILLIS_DIGITS, '0');
const twoDigits = (n: number): string => String(n).padStart(2, '0');

/** Spreads ids evenly: the last hex digits of a v7 id are random. */
export const shardOf = (id: string, shards: number): number => Number.parseInt(id.slice(-4), 16) % shards;

export const keys = {
  object: (type: string, id: string): Key => ({ pk: `${type}#${id}`, sk: '#' }),
  listing: (type: string, organization: string | null, path: readonly string[], id: string) => ({
    gsi1pk: `${type}@${organization ?? '-'}`,
    gsi1sk: [...path, id].join('#'),
  }),
  listingPartition: (type: string, organization: string | null): string => `${type}@${organization ?? '-'}`,
  listingPrefix: (path: readonly string[]): string => path.map((p) => `${p}#`).join(''),

  fromBlockPartition: (from: string, organization: string): string => `FROM@${organization}@${part(from)}`,
  fromBlock: (from: string, organization: string, path: readonly string[], id: string) => ({
    gsi2pk: keys.fromBlockPartition(from, organization),
    gsi2sk: [...path, id].join('#'),
  }),

  windowUserPartition: (window: string): string => `WINDOW@${window}`,
  windowUser: (window: string, type: string, id: string) => ({ gsi2pk: keys.windowUserPartition(window), gsi2sk: `${type}#${id}` }),

  /** Not on the config's own row: it changes without anybody changing the config. */
  schedule: (config: string): Key => ({ pk: `SCHEDULE#${config}`, sk: '#' }),

  settings: (): Key => ({ pk: 'SETTINGS', sk: '#' }),
  watch: (): Key => ({ pk: 'WATCH', sk: '#' }),
  fleet: (): Key => ({ pk: 'FLEET', sk: '#' }),
  gauges: (): Key => ({ pk: 'GAUGES', sk: '#' }),
  board: (): Key => ({ pk: 'BOARD', sk: '#' }),
  boardPart: (hash: string): Key => ({ pk: `BOARD#${hash}`, sk: '#' }),
  touch: (cluster: string): Key => ({ pk: 'TOUCHED', sk: cluster }),
  lease: (name: string): Key => ({ pk: 'LEASE', sk: name }),
  execution: (name: string): Key => ({ pk: 'EXEC', sk: name }),
  idempotency: (actor: string, key: string): Key => ({ pk: `IDEM#${part(actor)}`, sk: part(key) }),

  presence: (agent: string): Key => ({ pk: `HB#${twoDigits(shardOf(agent, COUNTER_SHARDS))}`, sk: agent }),
  agentPlaces: (organization: string): string => `AGENTS@${organization}`,
  agentPlace: (organization: string, path: readonly string[], agent: string): Key => ({
    pk: keys.agentPlaces(organization),
    sk: [...path, agent].join('#'),
  }),
  presencePartition: (shard: number): string => `HB#${twoDigits(shard)}`,

  waveRow: (wave: string): Key => ({ pk: `W#${wave}`, sk: 'W' }),
  waveCounter: (wave: string, item: string): Key => ({ pk: `W#${wave}`, sk: `C#${twoDigits(shardOf(item, COUNTER_SHARDS))}` }),
  calendar: (wave: string, calendar: string): Key => ({ pk: `W#${wave}`, sk: `CAL#${calendar}` }),
  wake: (wave: string): Key => ({ pk: `W#${wave}`, sk: 'X' }),
  waveOrganization: (wave: string, organization: string): Key => ({ pk: `WO#${wave}`, sk: organization }),
  waveOrganizationListing: (organization: string, wave: string) => ({ gsi1pk: `WORG@${organization}`, gsi1sk: wave }),

  /** Waves of one config (or of none): which is open for a (owner kind, target, revision), and which may still run something. */
  group: (config: string | null): string => `G#${config ?? '-'}`,
  openWave: (config: string | null, owner: string | null, hash: string): Key => ({
    pk: keys.group(config),
    sk: `OPEN#${part(owner ?? '')}#${part(hash)}`,
  }),
  runningWave: (config: string | null, owner: string | null, wave: string): Key => ({
    pk: keys.group(config),
    sk: `WAVE#${part(owner ?? '')}#${wave}`,
  }),

  item: (id: string): Key => ({ pk: `I#${id}`, sk: '#' }),
  itemListing: (wave: string, organization: string, item: string) => ({ gsi1pk: `W#${wave}#${organization}`, gsi1sk: item }),
  readyLane: (wave: string, calendar: string): string => `W#${wave}#R#${calendar}`,
  parkedLane: (wave: string): string => `W#${wave}#P`,
  parkedSort: (until: number, item: string): string => `${instantPart(until)}#${item}`,

  run: (id: string): Key => ({ pk: `R#${id}`, sk: '#' }),
  runListing: (organization: string, id: string) => ({ gsi1pk: `RUN@${organization}`, gsi1sk: id }),
  runLog: (id: string): Key => ({ pk: `R#${id}`, sk: 'LOG' }),
  renderedConfig: (item: string): Key => ({ pk: `I#${item}`, sk: 'CONFIG' }),
  dueRun: (id: string, at: number) => ({
    gsi2pk: `DUE#run#${shardOf(id, DUE_SHARDS)}`,
    gsi2sk: `${instantPart(at)}#${id}`,
  }),
  dueRunPartition: (shard: number): string => `DUE#run#${shard}`,
  due: (kind: DueKind, at: number, id: string) => ({ gsi2pk: `DUE#${kind}`, gsi2sk: `${instantPart(at)}#${id}` }),
  duePartition: (kind: DueKind): string => `DUE#${kind}`,

  /** Stands in the due lane of maintenances at 0, before all that have an end. */
  maintenanceMark: (id: string): Key => ({ pk: `maintenance#${id}`, sk: 'MARK' }),

  gate: (): Key => ({ pk: 'GATE', sk: 'G' }),
  gateCounter: (cluster: string): Key => ({ pk: 'GATE', sk: `C#${twoDigits(shardOf(cluster, COUNTER_SHARDS))}` }),

  enqueueRun: (id: string): Key => ({ pk: `E#${part(id)}`, sk: '#' }),
  outbox: (id: string): Key => ({ pk: `OUTBOX#${id}`, sk: '#' }),
  import: (id: string): Key => ({ pk: `IMPORT#${id}`, sk: '#' }),
  importState: (unit: string): Key => ({ pk: `IMPORTED#${part(unit)}`, sk: '#' }),
  importChunk: (id: string, n: number): Key => ({ pk: `IMPORT#${id}`, sk: `BODY#${String(n).padStart(6, '0')}` }),
} as const;

/** Rows that wait for an instant, on gsi2. */
export type DueKind = 'wave' | 'enqueue' | 'outbox' | 'maintenance' | 'import' | 'pause';

export interface KeyPattern {
  readonly pattern: string;
  readonly sk: string;
  readonly entity: string;
  readonly serves: string;
  readonly index: string;
}

const row = (entity: string, pattern: string, sk: string, index: string, serves: string): KeyPattern => ({
  pattern,
  sk,
  entity,
  index,
  serves,
});

/** The table in words; the order is that of the document. */
export const KEYS: readonly KeyPattern[] = [
  row(
    'object',
    '<TYPE>#<id>',
    '#',
    'gsi1: <TYPE>@<organization or -> / <parents…>#<id>',
    'A11 lists and single objects; a member’s list stays in its own organization’s partition',
  ),
  row(
    'block',
    'block#<id>',
    '#',
    'gsi1: block@<organization> / <workspace>#<cluster or ->#<id>; gsi2: FROM@<organization>@<from_block> / same',
    'A5 one active item per block: active_item is set under a condition',
  ),
  row(
    'organization, workspace',
    '<TYPE>#<id>',
    '#',
    'gsi2: WINDOW@<maintenance_window> / <TYPE>#<id>',
    'who names a window: it is not archived while somebody does',
  ),
  row('schedule', 'SCHEDULE#<config>', '#', '', 'the latest fire of a config, once for each minute, and what the scheduler was told of it'),
  row('settings', 'SETTINGS', '#', '', 'SystemConfig and the system default window, read fresh at each decision'),
  row('fleet', 'FLEET', '#', '', 'number of active and of paused clusters: the operator gate’s N'),
  row('gauges', 'GAUGES', '#', '', 'what the last tick measured, for the page of numbers'),
  row('watch', 'WATCH', '#', '', 'A4 the last look at all agents, and the platform alert'),
  row('presence', 'HB#<00–15>', '<agent>', '', 'A1 heartbeat: one UpdateItem; A4 the sixteen partitions are walked by the tick'),
  row('agent place', 'AGENTS@<organization>', '<workspace>#<cluster or ->#<agent>', '', 'A11 the agents of a workspace or a cluster'),
  row('board', 'BOARD', '#', '', 'A4 which parts the operator board is made of'),
  row('board part', 'BOARD#<hash>', '#', '', 'A4 up to 1,000 rows of the operator board, gzipped; named by what is in it'),
  row('touch', 'TOUCHED', '<cluster>', '', 'clusters that a person has changed since the board was written'),
  row(
    'wave',
    'W#<wave>',
    'W',
    'gsi1: block_rollout@- / <wave>; gsi2: DUE#wave / <recheck_at>#<wave>',
    'counters, status and driver of a wave; waves whose time to look again has passed',
  ),
  row('done shard', 'W#<wave>', 'C#<00–15>', '', 'successes of a wave, spread so that finishes do not queue up'),
  row('calendar', 'W#<wave>', 'CAL#<calendar>', '', 'A6 ready items per calendar'),
  row('wake', 'W#<wave>', 'X', '', 'the waiting driver’s task token and what it saw'),
  row(
    'wave organization',
    'WO#<wave>',
    '<organization>',
    'gsi1: WORG@<organization> / <wave>',
    'A11 the waves of an organization, the organizations of a wave',
  ),
  row('open wave', 'G#<config or ->', 'OPEN#<owner kind>#<hash of target and revision>', '', 'the one open wave that an item joins'),
  row('running wave', 'G#<config or ->', 'WAVE#<owner kind>#<wave>', '', 'older waves that may still hold slots'),
  row(
    'item',
    'I#<item>',
    '#',
    'gsi1: W#<wave>#<organization> / <item>; gsi2 ready: W#<wave>#R#<calendar> / order; gsi2 parked: W#<wave>#P / recheck_at',
    'A6 next candidates, A7 parked items, A11 items of a wave',
  ),
  row('rendered config', 'I#<item>', 'CONFIG', '', 'the config as rendered when enqueued, gzipped'),
  row(
    'run',
    'R#<run>',
    '#',
    'gsi1: RUN@<organization> / <run>; gsi2: DUE#run#<0–3> / <deadline>#<run>',
    'A9 claim and finish, A10 deadlines',
  ),
  row('run log', 'R#<run>', 'LOG', '', 'the last 64 KiB of each stream, gzipped'),
  row('gate', 'GATE', 'G', '', 'operator items started; ended ones on sixteen shards C#<00–15>'),
  row('maintenance mark', 'maintenance#<id>', 'MARK', 'gsi2: DUE#maintenance / 0#<id>', 'A7 items of this maintenance were put first'),
  row('enqueue run', 'E#<run>', '#', 'gsi2: DUE#enqueue / <look again>#<run>', 'work owed to reconciliation, kept until done'),
  row('outbox', 'OUTBOX#<id>', '#', 'gsi2: DUE#outbox / <next try>#<id>', 'notices, written with what causes them'),
  row('execution', 'EXEC', '<name>', '', 'running executions of the embedded engine'),
  row('lease', 'LEASE', '<name>', '', 'one tick at a time; a lease past its end is free, whatever the TTL has done'),
  row('idempotency', 'IDEM#<key owner>', '<Idempotency-Key>', '', 'answers kept for 24 h'),
  row('import', 'IMPORT#<id>', '# and BODY#<n>', 'gsi2: DUE#import / <look again>#<id>', 'a fleet file on its way in, applied in pages'),
  row('last import', 'IMPORTED#<unit>', '#', '', 'what the last import said about an object, field by field'),
];
