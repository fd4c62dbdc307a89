import { worst } from '../../domain/agent/liveness.ts';
import type { AppState } from '../../domain/shared/fleet.ts';
import type { AgentHealth, ReportedApp } from './presence.ts';

const STATE: Readonly<Record<AgentHealth, AppState>> = { healthy: 'OK', degraded: 'WARNING', unhealthy: 'WARNING', critical: 'CRITICAL' };

/** What an agent says of itself; saying nothing is saying that it is well. */
export const healthState = (health: AgentHealth | null): AppState => (health === null ? 'OK' : STATE[health]);

/** The worst of what the agent says of itself and of one app (SPEC §6). */
export const reportedState = (health: AgentHealth | null, app: ReportedApp | null): AppState =>
  worst(healthState(health), app?.state ?? null) ?? 'OK';
