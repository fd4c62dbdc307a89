import * as z from 'zod';
import { id, idIn, instantIn, instantOut, name } from './common.ts';
import { managedOut } from './managed.ts';

/** SPEC §6, §9: keys of people and of agents. The secret is in the answer of the creation and nowhere else. */

export const role = z.enum(['platform_admin', 'member', 'agent']);
export const access = z.enum(['read', 'read_write']);

const keyOut = {
  ...managedOut,
  prefix: z.string(),
  role,
  access,
  organization: id.nullable(),
  workspace: id.nullable(),
  k8s_cluster: id.nullable(),
  expires_at: instantOut.nullable(),
  revoked_at: instantOut.nullable(),
  last_used_at: instantOut.nullable(),
};
export const accessKey = z.object(keyOut).meta({ id: 'AccessKey' });

/** null when an answer is repeated under its Idempotency-Key: secrets are not kept. */
const secret = z.string().nullable();
export const apiKeyMade = z.object({ ...keyOut, key: secret }).meta({ id: 'ApiKeyMade' });
export const agentKeyMade = z.object({ ...keyOut, key: secret, manifest: secret }).meta({ id: 'AgentKeyMade' });

export const createApiKey = z
  .strictObject({
    name,
    role: z.enum(['platform_admin', 'member']).exactOptional(),
    access: access.exactOptional(),
    organization: idIn.nullable().exactOptional(),
    expires_at: instantIn.nullable().exactOptional(),
  })
  .meta({ id: 'CreateApiKey' });

export const createAgentKey = z
  .strictObject({
    name,
    workspace: idIn,
    k8s_cluster: idIn.nullable().exactOptional(),
    expires_at: instantIn.nullable().exactOptional(),
  })
  .meta({ id: 'CreateAgentKey' });

export const whoami = z
  .object({
    id,
    name: z.string(),
    prefix: z.string(),
    role,
    access,
    organization: id.nullable(),
    workspace: id.nullable(),
    k8s_cluster: id.nullable(),
    expires_at: instantOut.nullable(),
  })
  .meta({ id: 'WhoAmI' });
