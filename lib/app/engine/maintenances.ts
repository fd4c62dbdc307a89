import type { Maintenance } from '../../domain/shared/fleet.ts';
import { type Instant, LAST_INSTANT } from '../../domain/shared/time.ts';
import type { Span } from '../../domain/windows/spans.ts';
import type { EngineServices } from './services.ts';

type Target = { readonly k8s_cluster: string | null; readonly workspace: string; readonly organization: string };

/** Maintenances under way, and when the next one begins or ends. */
export interface Maintenances {
  /** Until when this target is in maintenance; null when it is not (SPEC §1 Maintenance). */
  until(target: Target): Instant | null;
  /** Those of this target that are under way or still to come, drafts left out. */
  spans(target: Target): readonly Span[];
  readonly changes_at: Instant | null;
}

export async function readMaintenances(services: EngineServices, now: Instant): Promise<Maintenances> {
  const ids = await services.engine.maintenancesEndingAfter(now);
  const all = ids.length === 0 ? [] : [...(await services.objects.getMany('maintenance', ids)).values()];
  const standing = all.filter((m) => !m.archived && !m.draft && m.end > now);
  const spans = (target: Target): Span[] =>
    standing.filter((m) => concerns(m, target)).map((m) => ({ from: m.start, until: Math.min(LAST_INSTANT, m.end) }));
  const changes = all.flatMap((m) => [m.start, m.end]).filter((at) => at > now);
  return {
    spans,
    until: (target) => {
      const ends = spans(target).flatMap(({ from, until }) => (from <= now ? [until] : []));
      return ends.length === 0 ? null : Math.max(...ends);
    },
    changes_at: changes.length === 0 ? null : Math.min(...changes),
  };
}

/** While active and not a draft; start included, end excluded. */
export const isActive = (m: Maintenance, now: Instant): boolean => !m.archived && !m.draft && m.start <= now && now < m.end;

/** Names clusters and workspaces; naming none means all of its organization, or of the platform when it has none. */
export function concerns(m: Maintenance, target: Target): boolean {
  if (m.organization !== null && m.organization !== target.organization) return false;
  if (m.k8s_clusters.length + m.workspaces.length === 0) return true;
  return (target.k8s_cluster !== null && m.k8s_clusters.includes(target.k8s_cluster)) || m.workspaces.includes(target.workspace);
}
