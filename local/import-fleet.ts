import { gzipSync } from 'node:zlib';
import { importState } from '../lib/contracts/api/import.ts';
import type { ApiClient } from './api-client.ts';
import type { FleetSource } from './fleet-source.ts';

/** Sends a fleet file to the API, as `block-rollout import` does, and follows it to its end; false when it was stopped before. */
export async function importFleet(
  api: ApiClient,
  source: FleetSource,
  say: (line: string) => void,
  stopped: () => boolean,
): Promise<boolean> {
  const headers = { 'content-type': 'application/yaml', 'content-encoding': 'gzip' };
  let state = await api.post('import/', importState, gzipSync(source.text), headers);
  let said = Date.now();
  while (state.status === 'running') {
    if (stopped()) return false;
    state = await api.get(`import/${state.id}/`, importState);
    if (Date.now() - said < 1000) continue;
    said = Date.now();
    say(`Importing ${source.file}: ${state.done} of ${state.total} records`);
  }
  say(`Imported ${source.file}: ${summary(state.counts)}.`);
  return true;
}

function summary(counts: Readonly<Record<string, { created: number; updated: number; unchanged: number }>>): string {
  const sum = { created: 0, updated: 0, unchanged: 0 };
  for (const { created, updated, unchanged } of Object.values(counts)) {
    sum.created += created;
    sum.updated += updated;
    sum.unchanged += unchanged;
  }
  const clusters = counts['k8s_cluster'];
  const all = clusters === undefined ? 0 : clusters.created + clusters.updated + clusters.unchanged;
  return `${all} clusters; ${sum.created} records created, ${sum.updated} updated, ${sum.unchanged} unchanged`;
}
