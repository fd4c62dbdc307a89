import * as z from 'zod';
import { appState, id, instantOut } from './common.ts';
import { managedOut, reference } from './managed.ts';

/** SPEC §6: agents, as people see them. They come into being by reporting. */

export const agentKind = z.enum(['agent', 'operator']);

export const agent = z
  .object({
    ...managedOut,
    created_at: instantOut.nullable(),
    updated_at: instantOut.nullable(),
    organization: reference.nullable(),
    workspace: reference.nullable(),
    k8s_cluster: id.nullable(),
    kind: agentKind,
    reported_agent_id: z.string(),
    version: z.string().nullable(),
    state: appState.nullable(),
    is_active: z.boolean(),
    last_seen: instantOut.nullable(),
    /** UID of the kube-system namespace that it is bound to; null after a rebind, until it reports. */
    cluster_uid: z.string().nullable(),
    k8s_app: id.nullable(),
    source_pop: z.null(),
    icon_url: z.null(),
  })
  .meta({ id: 'Agent' });
