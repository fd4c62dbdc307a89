import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { conflict } from '../errors.ts';
import type { ResourceServices } from './services.ts';

/** Ids of the targets that a config means now (SPEC §1 "Scope"); a config of kind `config` starts nothing and has none. */
export async function targetIds(services: ResourceServices, config: BlockRolloutConfig): Promise<Set<string>> {
  const ids = new Set<string>();
  if (config.kind !== 'trigger') return ids;
  for await (const page of services.scope.targets(config)) for (const target of page) ids.add(target.cluster?.id ?? target.workspace.id);
  return ids;
}

/** SPEC §1: writes that create demand say whom they are meant for; another number refuses the write. */
export function requireExpected(expected: number | undefined, targets: number): void {
  if (expected === undefined || expected === targets) return;
  throw conflict(
    `${targets} targets are in scope, not ${expected}; nothing was changed. Look at the preview, then send expected_targets: ${targets}.`,
  );
}
