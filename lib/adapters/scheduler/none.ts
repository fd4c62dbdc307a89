import type { Scheduler } from '../../app/ports.ts';

const NOT_CONFIGURED =
  'This function makes no schedules: SCHEDULE_GROUP_NAME, SCHEDULE_ROLE_ARN, TRIGGER_FUNCTION_ARN and SCHEDULE_DLQ_ARN are not all set. Deploy it anew.';

/** Of a function that is not configured to make schedules: whoever tries gets to know it. */
export const NO_SCHEDULER: Scheduler = {
  revision: '',
  put: () => Promise.reject(new Error(NOT_CONFIGURED)),
  remove: () => Promise.reject(new Error(NOT_CONFIGURED)),
  differences: () => Promise.reject(new Error(NOT_CONFIGURED)),
};
