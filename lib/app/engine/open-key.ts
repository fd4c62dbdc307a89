import type { Wave } from '../../domain/shared/rollout.ts';
import type { OpenWaveKey } from './ports.ts';

export type OpenKeyParts = Pick<Wave, 'rollout_config' | 'owner_kind' | 'target_version' | 'template_revision' | 'source'>;

/** SPEC §3.1: an item joins the open wave of its (config, owner kind, target version, template revision); manual waves are joined by nobody. */
export function openKeyOf(wave: OpenKeyParts): OpenWaveKey | null {
  if (wave.source === 'manual') return null;
  return { config: wave.rollout_config, owner: wave.owner_kind, hash: `${wave.target_version ?? ''}\n${wave.template_revision}` };
}
