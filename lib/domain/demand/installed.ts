import type { Block, K8sApp } from '../shared/fleet.ts';

/**
 * SPEC §2.1: the app's installed version when known, else the block's; the newest report wins. An app that an agent has
 * reported since the block was last written speaks for the cluster, also when it says that nothing is installed.
 */
export function installedVersion(
  block: Pick<Block, 'installed_version' | 'installed_at'> | null,
  app: Pick<K8sApp, 'installed_version' | 'last_reconciled'> | null,
): string | null {
  if (app === null) return block?.installed_version ?? null;
  if (block === null) return app.installed_version;
  const reported = app.last_reconciled ?? Number.NEGATIVE_INFINITY;
  const installed = block.installed_at ?? Number.NEGATIVE_INFINITY;
  if (installed > reported) return block.installed_version;
  if (app.last_reconciled !== null) return app.installed_version;
  return app.installed_version ?? block.installed_version;
}
