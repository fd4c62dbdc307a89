import * as z from 'zod';
import { componentName, criticality, displayName, jsonObject, labels, name, versionText } from './api/common.ts';
import { updateSystemConfig } from './api/system-config.ts';

/** SPEC §13: the fleet file, as it is written. Names identify; unknown fields are refused by name. */

/** An object without room for misspelt fields; the message names the fields that exist. */
function strict<S extends z.ZodRawShape>(what: string, shape: S) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `is not a field of ${what}; there are: ${known}` : undefined),
  });
}

const managed = { name, display_name: displayName.nullish(), labels: labels.optional(), annotations: labels.optional() };

const contacts = z.array(z.email('must be an e-mail address').max(254)).max(50);

/** SPEC §4; its fields are checked by the rules of windows, which say more than a schema can. */
const fleetWindow = z.looseObject({});

const appEntry = strict('an app', {
  name,
  /** null = installed in a version that nobody knows. */
  installed_version: versionText.nullable(),
});

const managedBy = strict('managed_by', { kind: z.string().min(1).max(100), id: z.string().min(1).max(253).nullish() });

const blockEntry = strict('a block', {
  ...managed,
  from_block: z.string().min(1).max(500).nullish(),
  app: name.nullish(),
  version: versionText.nullish(),
  installed_version: versionText.nullish(),
  config: jsonObject.optional(),
  created_by_component: componentName.optional(),
  managed_by: managedBy.nullish(),
  auto_rollout: z.boolean().optional(),
  kind: z.string().min(1).max(100).nullish(),
  type: z.string().min(1).max(100).nullish(),
  flavor: z.string().min(1).max(100).nullish(),
  actions: z.array(z.string().min(1).max(100)).max(100).optional(),
});

const clusterEntry = strict('a cluster', {
  ...managed,
  active: z.boolean().optional(),
  apps: z.array(appEntry).max(1000).nullish(),
  blocks: z.array(blockEntry).max(1000).nullish(),
});

const inherited = { criticality: criticality.nullish(), contacts: contacts.optional(), maintenance_window: fleetWindow.nullish() };

const workspaceEntry = strict('a workspace', {
  ...managed,
  ...inherited,
  clusters: z.array(clusterEntry).nullish(),
  blocks: z.array(blockEntry).max(1000).nullish(),
});

const organizationEntry = strict('an organization', { ...managed, ...inherited, workspaces: z.array(workspaceEntry).nullish() });

const fail = z.custom<number | string>(
  (value) =>
    typeof value === 'number' ? value >= 0 && value <= 1 : typeof value === 'string' && /^(always|first:[1-9]\d{0,5})$/.test(value),
  'must be a share from 0 to 1, "always" or "first:N"',
);

const seconds = z
  .tuple([z.number().min(0).max(86_400), z.number().min(0).max(86_400)], 'must be two numbers, [shortest, longest]')
  .refine(([shortest, longest]) => shortest <= longest, 'the first number must not be greater than the second');

const behaviour = { seconds: seconds.optional(), fail: fail.optional(), silent: z.boolean().optional() };

const rule = strict('a simulation rule', { match: z.string().max(4096).optional(), cluster: z.string().optional(), ...behaviour }).refine(
  (r) => (r.match === undefined) !== (r.cluster === undefined),
  'needs either match (a label selector) or cluster (organization/workspace/cluster)',
);

export const simulation = strict('simulation', {
  seed: z.number().int().min(0).optional(),
  default: strict('simulation.default', behaviour).optional(),
  rules: z.array(rule).optional(),
});

export const FLEET_API_VERSION = 'block-rollout/v1';

export const fleetFile = strict('a fleet file', {
  apiVersion: z.literal(FLEET_API_VERSION, `must be "${FLEET_API_VERSION}"`),
  system_config: updateSystemConfig.optional(),
  organizations: z.array(organizationEntry).nullish(),
  /** The API's fields; checked with the API's own schema by the import. */
  rollout_configs: z.array(z.looseObject({ name })).nullish(),
  simulation: simulation.nullish(),
});

export type FleetFile = z.infer<typeof fleetFile>;
export type FleetOrganization = z.infer<typeof organizationEntry>;
export type FleetWorkspace = z.infer<typeof workspaceEntry>;
export type FleetCluster = z.infer<typeof clusterEntry>;
export type FleetBlock = z.infer<typeof blockEntry>;
export type FleetApp = z.infer<typeof appEntry>;
export type Simulation = z.infer<typeof simulation>;
