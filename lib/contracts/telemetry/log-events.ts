/**
 * What is logged: each event with what it tells. A closed list, so that a query or an alarm on a name keeps working. A line is
 * `{timestamp, level, event, function, request_id, …fields}`; decisions carry the reason that led to them.
 */
export const LOG_EVENTS = {
  // Decisions
  wave_planned: 'one look at a wave: what it starts, what is held and by what, its state, when it is looked at again',
  wave_opened: 'a new wave',
  wave_changed: 'a wave changed its state, and why',
  batch_dispatched: 'items that were started, and how many were refused by the table',
  item_dispatched: 'one item was started: its run, its agent, which attempt it is',
  attempt_ended: 'how an attempt ended and what became of its item',
  targets_decided: 'a page of targets was compared with what one config wants: how many items were made, and why not more',
  enqueue_finished: 'targets were compared: how many were looked at, how many items were made',
  schedule_fired: 'a minute that a config’s cron names was begun: its enqueue run, and how late',
  trigger_did_nothing: 'a call of the trigger at a minute that is not this config’s to do, or of a config that does not fire',
  schedule_told: 'the scheduler was told the times of a config, or to forget it',
  run_swept: 'an open run reached its deadline or was not claimed in time',
  agent_registered: 'an agent reports for the first time, with another key or from another host',
  platform_alert: 'so many agents fell silent at once that the service itself is suspected',
  index_behind: 'the counters of a wave say that more is ready than the index shows',
  notice: 'what people outside are told; only where there is no topic for it',
  // What the safety layers mended
  driver_replaced: 'a wave had lost its execution and got another',
  driver_not_started: 'no execution could be started for a wave; the tick does it',
  wake_not_sent: 'a waiting execution could not be woken; the tick does it',
  execution_failed: 'an execution ended badly, other than by a blocked wave or wrong input',
  courier_failed: 'an execution failed; the wave is taken up again',
  schedule_not_told: 'the scheduler did not take the times of a config; the tick tells it again, and makes up for its calls',
  schedules_not_listed: 'the scheduler could not be asked what it has',
  follow_up_left_to_the_tick: 'what a change leads to could not be done at once',
  change_not_followed: 'what a change means for waves could not be told to them',
  cluster_not_touched: 'a change of a cluster could not be marked for the operator board; a later tick shows it',
  enqueue_start_failed: 'an enqueue run could not be started',
  late_work_failed: 'work that nobody waits for failed',
  idempotency_not_kept: 'an answer could not be kept for a repeated Idempotency-Key',
  idempotency_not_released: 'a failed request could not give its Idempotency-Key back',
  key_use_not_noted: 'last_used_at of a key could not be written',
  run_not_swept: 'an open run could not be ended',
  agents_not_watched: 'the look at all agents failed',
  outbox_not_started: 'the outbox function could not be called after a commit; the tick does it',
  notices_not_delivered: 'some notices were not taken; they are tried again',
  notifier_failed: 'no notice could be sent; they are tried again',
  outbox_failed: 'a run of the outbox function failed',
  tick_part_failed: 'a part of the minute tick failed',
  schedule_tick_failed: 'a config’s missed fire or schedule could not be looked at by the tick',
  tick_step_failed: 'a step of the minute tick failed',
  // Requests
  request_failed: 'a request ended in a bug',
  request_refused: 'a request was refused because something was not available',
  // The embedded runtime
  trigger_failed: 'a call of the trigger failed',
  tick_failed: 'the minute tick failed',
  gateway_failed: 'the local gateway failed',
  function_failed: 'a function called by the local gateway failed',
  local_request_failed: 'a request below /local/ failed',
  execution_end_not_reported: 'the end of a local execution could not be reported',
} as const;
export type LogEvent = keyof typeof LOG_EVENTS;

/**
 * Names of what a line may carry. Ids, numbers, states and reasons; nothing that could hold a key, a header, a config or a task token. What is
 * not listed is left out of the line.
 */
export const LOG_FIELDS = [
  // Ids
  ...(['wave', 'item', 'run', 'execution', 'agent', 'rollout_config', 'enqueue_run', 'workspace', 'k8s_cluster', 'id'] as const),
  ...(['function', 'request_id', 'trace', 'key_id', 'driver', 'generation'] as const),
  // Decisions
  ...([
    'next',
    'status',
    'from',
    'to',
    'reason',
    'actor',
    'recheck_at',
    'held',
    'reasons',
    'numbers',
    'outcome',
    'item_status',
    'retry_after',
  ] as const),
  ...(['dispatched', 'refused', 'parked', 'skipped', 'attempt', 'target_version', 'looked_at', 'enqueued', 'agents'] as const),
  ...(['notices', 'notice'] as const),
  ...(['exit_code', 'kind', 'type', 'name', 'forced'] as const),
  ...(['due_at', 'late', 'cron_expression', 'time_zone'] as const),
  // Faults
  ...(['error', 'cause', 'part', 'step', 'method', 'path'] as const),
] as const;
export type LogField = (typeof LOG_FIELDS)[number];
export type LogValue = string | number | boolean | null | Readonly<Record<string, number | null>>;
export type LogFields = { readonly [F in LogField]?: LogValue };
