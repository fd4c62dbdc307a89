import type { AccessKey } from '../ports.ts';
import type { AgentServices } from './services.ts';

/**
 * After an agent key was revoked: the heartbeats that came with it end at once. (Claim, progress and finish read the key row and need nothing.)
 */
export async function revokeKeyOfAgents(services: Pick<AgentServices, 'presence'>, key: AccessKey): Promise<void> {
  if (key.role !== 'agent' || key.organization === null || key.workspace === null) return;
  const where = { organization: key.organization, workspace: key.workspace };
  const agents = await services.presence.listIds(key.k8s_cluster === null ? where : { ...where, k8s_cluster: key.k8s_cluster });
  await Promise.all(agents.map((agent) => services.presence.revoke(agent, key.id)));
}
