import canonicalize from 'canonicalize';
import type { Json, JsonObject, K8sCluster, Organization, Workspace } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Renderer } from './renderer.ts';
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

function contextOf(settings: SystemSettings, target: RenderTarget): JsonObject {
  return {
    system_config: settingsContext(settings),
    organization: named(target.organization),
    workspace: named(target.workspace),
    cluster: named(target.cluster),
  };
}

/** SPEC §5: an override replaces the operator's target; else the config's template says it. */
export async function renderTarget(
  services: Pick<EngineServices, 'renderer' | 'digest'>,
  config: Pick<BlockRolloutConfig, 'target_version' | 'block_config_template' | 'template_revision'>,
  settings: SystemSettings,
  target: RenderTarget,
  override: string | null,
): Promise<RenderedTarget> {
  const context = contextOf(settings, target);
  const failed = (error: string): RenderedTarget => ({
    ok: false,
    error,
    context_hash: services.digest(`${config.template_revision}\n${canonicalize(context) ?? ''}`),
  });
  const version = override ?? (await renderVersion(services.renderer, config.target_version, context));
  if (typeof version === 'object' && version !== null) return failed(version.error);
  if (config.block_config_template === null) return { ok: true, target_version: version, config: null, config_hash: null };
  const rendered = await services.renderer.config(config.block_config_template, context);
  if (!rendered.ok) return failed(rendered.error);
  return { ok: true, target_version: version, config: rendered.config, config_hash: services.digest(canonicalize(rendered.config) ?? '') };
}

async function renderVersion(renderer: Renderer, template: string | null, context: JsonObject): Promise<string | null | { error: string }> {
  if (template === null) return null;
  const rendered = await renderer.text(template, context);
  if (!rendered.ok) return { error: rendered.error };
  const version = rendered.text.trim();
  return version === '' ? { error: 'target_version renders to an empty text' } : version;
}
