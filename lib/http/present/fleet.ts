import type * as z from 'zod';
import { NO_HOST } from '../../app/agents/presence.ts';
import type { AgentView } from '../../app/agents/read-agents.ts';
import type { Downtime } from '../../app/ports.ts';
import type { Moment, WindowPreview, WindowStatus } from '../../app/resources/window-preview.ts';
import { urlOf } from '../../app/urls.ts';
import type * as agents from '../../contracts/api/agents.ts';
import type * as clusters from '../../contracts/api/clusters.ts';
import type * as maintenances from '../../contracts/api/maintenances.ts';
import type * as organizations from '../../contracts/api/organizations.ts';
import type * as windows from '../../contracts/api/windows.ts';
import { installedVersion } from '../../domain/demand/installed.ts';
import { effectiveCriticality } from '../../domain/item/criticality.ts';
import type { Block, K8sApp, K8sCluster, Maintenance, Organization, WindowObject, Workspace } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { compareVersions } from '../../domain/version/compare.ts';
import { iso, isoOrNull, managed, type Parents } from './common.ts';

export const organization = (value: Organization): z.input<typeof organizations.organization> => ({
  ...managed(value, 'organization'),
  criticality: value.criticality,
  effective_criticality: effectiveCriticality(null, value.criticality),
  contacts: [...value.contacts],
  maintenance_window: value.maintenance_window,
});

export const workspace = (
  value: Workspace,
  parents: Parents,
  owner: Organization | undefined,
): z.input<typeof organizations.workspace> => ({
  ...managed(value, 'workspace'),
  organization: parents.organization(value.organization),
  criticality: value.criticality,
  effective_criticality: effectiveCriticality(value.criticality, owner?.criticality ?? null),
  contacts: [...value.contacts],
  maintenance_window: value.maintenance_window,
});

const owners = (value: { organization: string | null; workspace: string | null }, parents: Parents) => ({
  organization: parents.organization(value.organization),
  workspace: parents.workspace(value.workspace),
});

/** A pause that is over is shown as over (SPEC §1: at paused_until it resumes by itself). */
export function cluster(value: K8sCluster, parents: Parents, now: Instant): z.input<typeof clusters.cluster> {
  const { paused, pause_reason, paused_until, version_override } = value.rollout_override;
  const over = paused && paused_until !== null && paused_until <= now;
  return {
    ...managed(value, 'k8s_cluster'),
    ...owners(value, parents),
    active: value.active,
    rollout_override: over
      ? { paused: false, pause_reason: null, paused_until: null, version_override }
      : { paused, pause_reason, paused_until: isoOrNull(paused_until), version_override },
  };
}

export const block = (value: Block, parents: Parents): z.input<typeof clusters.block> => ({
  ...managed(value, 'block'),
  ...owners(value, parents),
  k8s_cluster: value.k8s_cluster,
  kind: value.kind,
  type: value.type,
  flavor: value.flavor,
  from_block: value.from_block,
  app: value.app,
  version: value.block_version,
  installed_version: value.installed_version,
  installed: value.installed_version !== null,
  update_needed: updateNeeded(value),
  last_installed_at: isoOrNull(value.last_installed_at),
  installation_status: value.installation_status,
  config: structuredClone(value.config) as z.input<typeof clusters.block>['config'],
  config_hash: value.config_hash,
  created_by_component: value.created_by_component,
  managed_by: value.managed_by === null ? null : { ...value.managed_by },
  managed_by_content_type: value.managed_by?.kind ?? null,
  managed_by_object_id: value.managed_by?.id ?? null,
  auto_rollout: value.auto_rollout,
  created_by_brc: value.created_by_brc,
  managed_by_brc: value.managed_by_brc,
  actions: [...value.actions],
  active_item: value.active_item,
});

/** The one version rule answers everywhere (SPEC §2.3). */
const updateNeeded = (value: Block): boolean =>
  value.installed_version !== null &&
  value.block_version !== null &&
  compareVersions(value.installed_version, value.block_version, false) === 'upgrade';

export const app = (value: K8sApp, parents: Parents, on: Block | undefined): z.input<typeof clusters.app> => ({
  ...managed(value, 'k8s_app'),
  ...owners(value, parents),
  k8s_cluster: value.k8s_cluster,
  block: value.block,
  installed_version: installedVersion(null, value),
  desired_version: on?.block_version ?? null,
  last_reconciled: isoOrNull(value.last_reconciled),
  last_reconciliation: isoOrNull(value.last_reconciled),
  state: value.state,
  excluded_from_downtime_until: isoOrNull(value.excluded_from_downtime_until),
});

export const window = (value: WindowObject, parents: Parents, is_system_default: boolean): z.input<typeof windows.window> => ({
  ...managed(value, 'maintenance_window'),
  ...owners(value, parents),
  time_zone: value.time_zone,
  time_slots: value.time_slots.map(({ days, ...slot }) => (days === undefined ? slot : { ...slot, days: [...days] })),
  freezes: value.freezes.map((freeze) => ({ ...freeze })),
  is_system_default,
  description: value.description,
  note: value.note,
  lead_time_days: value.lead_time_days,
  notice_required: value.notice_required,
});

const moment = ({ at, local }: Moment) => ({ at: iso(at), local });
const momentOrNull = (value: Moment | null) => (value === null ? null : moment(value));

export const windowPreview = (preview: WindowPreview): z.input<typeof windows.windowPreview> => ({
  id: preview.id,
  time_zone: preview.time_zone,
  open_now: preview.open_now,
  summary: preview.summary,
  frozen_until: momentOrNull(preview.frozen_until),
  next_opening: momentOrNull(preview.next_opening),
  next_closing: momentOrNull(preview.next_closing),
  openings: preview.openings.map(({ opens, closes, duration }) => ({
    opens_at: iso(opens.at),
    opens_at_local: opens.local,
    closes_at: closes === null ? null : iso(closes.at),
    closes_at_local: closes?.local ?? null,
    duration,
  })),
});

export const windowStatus = ({ open, window: found }: WindowStatus): z.input<typeof windows.windowStatus> => ({
  in_maintenance_window: open,
  window_id: found?.id ?? null,
  window_name: found?.name ?? null,
  window_display_name: found?.display_name ?? null,
});

export const maintenance = (value: Maintenance, parents: Parents, now: Instant): z.input<typeof maintenances.maintenance> => ({
  ...managed(value, 'maintenance'),
  organization: parents.organization(value.organization),
  k8s_clusters: [...value.k8s_clusters],
  workspaces: [...value.workspaces],
  start: iso(value.start),
  end: iso(value.end),
  draft: value.draft,
  is_active: !value.archived && !value.draft && value.start <= now && now < value.end,
});

/** Only unplanned ones count (reference: kind `generic`). */
export const downtime = (value: Downtime, parents: Parents): z.input<typeof maintenances.downtime> => ({
  ...managed(value, 'downtime'),
  ...owners(value, parents),
  k8s_cluster: value.k8s_cluster,
  agent: value.agent,
  kind: value.kind,
  started_at: iso(value.started_at),
  ended_at: isoOrNull(value.ended_at),
  is_active: value.ended_at === null,
  counts_towards_sla: value.kind === 'generic',
});

/** It has no name but the one that it reports. */
export const agent = ({ agent: value, state, online, k8s_app }: AgentView, parents: Parents): z.input<typeof agents.agent> => ({
  id: value.id,
  name: value.reported_agent_id,
  display_name: null,
  labels: {},
  annotations: {},
  created_at: isoOrNull(value.registered_at),
  updated_at: isoOrNull(value.last_seen ?? value.registered_at),
  archived: value.gone,
  archived_at: null,
  archived_reason: null,
  url: urlOf('agent', value.id),
  ...owners(value, parents),
  k8s_cluster: value.k8s_cluster,
  kind: value.kind,
  reported_agent_id: value.reported_agent_id,
  version: value.version,
  state,
  is_active: online,
  last_seen: isoOrNull(value.last_seen),
  cluster_uid: value.cluster_uid === NO_HOST ? null : value.cluster_uid,
  k8s_app,
  source_pop: null,
  icon_url: null,
});
