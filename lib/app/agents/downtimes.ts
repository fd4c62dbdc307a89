import type { Instant } from '../../domain/shared/time.ts';
import { AppError } from '../errors.ts';
import type { AgentServices } from './services.ts';

const TRIES = 5;

/** The next report closes the Downtime (SPEC §6). Closing a closed one changes nothing. */
export async function closeDowntime(services: Pick<AgentServices, 'objects'>, id: string, now: Instant): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await services.objects.get('downtime', id, true);
    if (before === null || before.ended_at !== null) return;
    try {
      await services.objects.replace('downtime', before, { ...before, ended_at: now, updated_at: now });
      return;
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'stale') || attempt >= TRIES) throw error;
    }
  }
}
