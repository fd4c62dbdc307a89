import canonicalize from 'canonicalize';
import type { Json, JsonObject, K8sCluster, Organization, Workspace } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Rendered, RenderJob } from './renderer.ts';
import type { EngineServices } from './services.ts';

export interface RenderTarget {
  readonly organization: Organization;
  readonly workspace: Workspace;
  readonly cluster: K8sCluster | null;
}

/** What an item of this target would carry; `error` = the template failed for it (SPEC §8 `template_error`). */
export type RenderedTarget =
  | { readonly ok: true; readonly target_version: string | null; readonly config: JsonObject | null; readonly config_hash: string | null }
  | { readonly ok: false; readonly error: string; readonly context_hash: string };

const named = (object: { id: string; name: string; labels: Json } | null): Json =>
  object === null ? null : { id: object.id, name: object.name, labels: object.labels };

/** Values of a system setting as templates see them, free keys beside the typed ones. */
export function settingsContext(settings: SystemSettings): JsonObject {
  const { revision: _revision, default_window: _window, free, ROLLOUTS_PAUSED, ...typed } = settings;
  return { ...free, ...typed, ROLLOUTS_PAUSED: ROLLOUTS_PAUSED === null ? null : { reason: ROLLOUTS_PAUSED.reason } };
}

export function contextOf(target: RenderTarget): JsonObject {
  return {
    organization: named(target.organization),
    workspace: named(target.workspace),
    cluster: named(target.cluster),
  };
}

type Templates = Pick<BlockRolloutConfig, 'target_version' | 'block_config_template' | 'template_revision'>;
type Services = Pick<EngineServices, 'renderer' | 'digest'>;

/** A target, and the version that it shall have whatever the template says. */
export interface ToRender {
  readonly target: RenderTarget;
  readonly override: string | null;
}

/** A page of targets in one round trip. SPEC §5: an override replaces the operator's target; else the config's template says it. */
export async function renderTargets(
  services: Services,
  config: Templates,
  settings: SystemSettings,
  targets: readonly ToRender[],
): Promise<RenderedTarget[]> {
  const jobs: RenderJob[] = [];
  const asked = (kind: RenderJob['kind'], template: string | null, context: JsonObject): number | null =>
    template === null ? null : jobs.push({ kind, template, context }) - 1;
  const places = targets.map(({ target, override }) => {
    const context = contextOf(target);
    const version = override === null ? asked('text', config.target_version, context) : null;
    return { context, override, version, config: asked('config', config.block_config_template, context) };
  });
  const shared = { system_config: settingsContext(settings) };
  const rendered = jobs.length === 0 ? [] : await services.renderer.render({ shared, jobs });
  const at = (place: number | null): Rendered | null => (place === null ? null : (rendered[place] ?? null));
  return places.map((place) => {
    const outcome = targetOf(services, place.override, at(place.version), at(place.config));
    if (outcome.ok) return outcome;
    const context = canonicalize({ ...shared, ...place.context }) ?? '';
    return { ...outcome, context_hash: services.digest(`${config.template_revision}\n${context}`) };
  });
}

/** One target by itself. */
export async function renderTarget(
  services: Services,
  config: Templates,
  settings: SystemSettings,
  target: RenderTarget,
  override: string | null,
): Promise<RenderedTarget> {
  const [rendered] = await renderTargets(services, config, settings, [{ target, override }]);
  if (rendered === undefined) throw new Error('the renderer left a target out');
  return rendered;
}

type Outcome = (RenderedTarget & { ok: true }) | { readonly ok: false; readonly error: string };

function targetOf(services: Services, override: string | null, version: Rendered | null, config: Rendered | null): Outcome {
  if (version?.ok === false) return version;
  if (config?.ok === false) return config;
  const target_version = version === null ? override : String(version.value).trim();
  if (target_version === '') return { ok: false, error: EMPTY_VERSION };
  if (config === null) return { ok: true, target_version, config: null, config_hash: null };
  const value = config.value as JsonObject;
  return { ok: true, target_version, config: value, config_hash: services.digest(canonicalize(value) ?? '') };
}

export const EMPTY_VERSION = 'target_version renders to an empty text';
