import * as z from 'zod';
import { appState, id, instantIn, instantOut, jsonObject } from './common.ts';

/** SPEC §6, §7: what agents send and get. */

const agentId = z.string().min(1).max(253);
const text = z.string().max(1000);
const count = z.number().int().min(0);

/** One probe of an endpoint; only the fields that decide something are read, the rest is accepted. */
export const checkResult = z.object({
  endpoint_id: id,
  success: z.boolean(),
  checked_at: z.iso.datetime({ offset: true }).exactOptional(),
  status_code: z.number().int().nullable().exactOptional(),
  error_code: z.number().int().exactOptional(),
  error_name: text.exactOptional(),
  duration_ms: z.number().nullable().exactOptional(),
});

export const reportedApp = z.object({
  name: z.string().min(1).max(253),
  /** null = the app is not installed (any more). */
  installed_version: z.string().min(1).max(100).nullable().exactOptional(),
  state: appState.nullable().exactOptional(),
});

/**
 * A heartbeat. Everything is optional, and what is not known is dropped, not refused: an agent that is newer than this
 * service must not look silent. Measurements that nothing decides on are accepted and not kept.
 */
export const agentReport = z
  .object({
    reported_agent_id: agentId.exactOptional(),
    version: z.string().max(100).exactOptional(),
    kind: z.enum(['agent', 'operator']).exactOptional(),
    status: z.enum(['healthy', 'degraded', 'unhealthy', 'critical']).exactOptional(),
    cluster: z.object({ uid: z.string().min(1).max(100), name: z.string().max(253).exactOptional() }).exactOptional(),
    apps: z.array(reportedApp).max(200).exactOptional(),
    /** For information only; the service decides by its own records. */
    running_action_runs: z.array(id).max(100).exactOptional(),
    check_results: z.array(checkResult).max(1000).exactOptional(),
    check_summary: z
      .object({
        monitored_endpoints: count.exactOptional(),
        failed_checks: count.exactOptional(),
        successful_checks: count.exactOptional(),
      })
      .exactOptional(),
    reported_at: text.nullable().exactOptional(),
    start_time: text.nullable().exactOptional(),
    uptime_seconds: z.number().nullable().exactOptional(),
    config_version: text.nullable().exactOptional(),
    last_config_update: text.nullable().exactOptional(),
    storage_healthy: z.boolean().nullable().exactOptional(),
    api_connected: z.boolean().nullable().exactOptional(),
    warnings: z.array(z.unknown()).exactOptional(),
    critical_errors: z.array(z.unknown()).exactOptional(),
    error_counts: z.unknown().exactOptional(),
    resource_metrics: z.unknown().exactOptional(),
    network_metrics: z.unknown().exactOptional(),
    check_metrics: z.unknown().exactOptional(),
    system_info: z.unknown().exactOptional(),
    storage_stats: z.unknown().exactOptional(),
    agent_configuration: z.unknown().exactOptional(),
  })
  .meta({ id: 'AgentReport' });
export type AgentReport = z.infer<typeof agentReport>;

/** What waits for the agent: claim it, run it, finish it. */
export const inboxEntry = z.object({ id, block: z.string(), action: z.string(), attempt: z.number().int(), deadline: instantOut });

export const agentReportAnswer = z
  .object({
    status: z.literal('success'),
    agent_id: id,
    reported_agent_id: z.string(),
    health_data_id: z.null(),
    pop_id: z.null(),
    pop_name: z.null(),
    endpoint_monitoring_mode: z.string(),
    operator_global_endpoint_monitor: z.boolean(),
    workspace_id: id,
    workspace_name: z.string(),
    organization_id: id,
    organization_name: z.string(),
    k8s_cluster_id: id.nullable(),
    action_runs: z.array(inboxEntry),
    /** Cancelled or timed out: stop them, then finish them with `status: cancelled`. */
    cancel_action_runs: z.array(id),
    next_report_seconds: z.number().int(),
  })
  .meta({ id: 'AgentReportAnswer' });

export const claimRequest = z.strictObject({});

const log = z.string();
export const progressRequest = z.strictObject({ stdout: log.exactOptional(), stderr: log.exactOptional() }).meta({ id: 'ProgressRequest' });
export type ProgressRequest = z.infer<typeof progressRequest>;

export const finishRequest = z
  .strictObject({
    exit_code: z.number().int().min(-2147483648).max(2147483647).nullable().exactOptional(),
    status: z.literal('cancelled', 'may only be "cancelled"; success or failure follow from exit_code').exactOptional(),
    stdout: log.exactOptional(),
    stderr: log.exactOptional(),
    finished_at: instantIn.nullable().exactOptional(),
    metadata: jsonObject.nullable().exactOptional(),
  })
  .check((ctx) => {
    const { exit_code, status } = ctx.value;
    if ((exit_code === undefined || exit_code === null) && status === undefined) {
      ctx.issues.push({
        code: 'custom',
        params: { code: 'required' },
        path: ['exit_code'],
        message: 'is required; 0 means success (or send status "cancelled" for a run stopped on request)',
        input: ctx.value,
      });
    }
  })
  .meta({ id: 'FinishRequest' });
export type FinishRequest = z.infer<typeof finishRequest>;

/** An endpoint that the agent is to probe. */
export const agentEndpoint = z
  .object({
    id,
    name: z.string(),
    kind: z.enum(['http', 'tcp', 'dns', 'icmp']),
    remote_address: z.string(),
    remote_port: z.number().int().nullable(),
    spec: jsonObject,
    workspace: z.record(z.string(), z.string()),
    organization: z.record(z.string(), z.string()),
  })
  .meta({ id: 'AgentEndpoint' });
export type AgentEndpoint = z.infer<typeof agentEndpoint>;
export const agentEndpoints = z.array(agentEndpoint);
