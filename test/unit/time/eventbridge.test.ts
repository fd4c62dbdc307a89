import { describe, expect, it } from 'vitest';
import { parseCron } from '../../../lib/domain/recurrence/cron.ts';
import { toEventBridge } from '../../../lib/domain/recurrence/eventbridge.ts';

function translate(text: string): readonly string[] {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return toEventBridge(parsed.cron, 'Europe/Berlin').expressions;
}

describe('translation to EventBridge Scheduler', () => {
  it.each([
    ['* * * * *', ['cron(* * * * ? *)']],
    ['0 22 * * FRI', ['cron(0 22 ? * FRI *)']],
    ['0 22 * * 1-5', ['cron(0 22 ? * MON-FRI *)']],
    ['0 8 * * 7', ['cron(0 8 ? * SUN *)']],
    ['0 8 * * 0', ['cron(0 8 ? * SUN *)']],
    ['0 8 * * 6-7', ['cron(0 8 ? * SUN,SAT *)']],
    ['*/15 8-18 1 JAN,JUL *', ['cron(0,15,30,45 8-18 1 1,7 ? *)']],
    ['0 0 13 * 5', ['cron(0 0 13 * ? *)', 'cron(0 0 ? * FRI *)']],
    ['0 0 1-31 * 5', ['cron(0 0 * * ? *)']],
    ['0 0 */2 * 1', ['cron(0 0 ? * MON *)']],
    ['0 0 */2 * *', ['cron(0 0 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 * ? *)']],
  ])('%s', (text, expected) => {
    expect(translate(text)).toEqual(expected);
  });

  it('keeps the zone beside the expression', () => {
    const parsed = parseCron('0 0 * * *');
    expect(parsed.ok && toEventBridge(parsed.cron, 'Asia/Kolkata').timezone).toBe('Asia/Kolkata');
  });

  it('fits the 256 characters of AWS at its longest', () => {
    const sparse = (max: number, from = 0) => Array.from({ length: max - from + 1 }, (_, i) => i + from).filter((n) => n % 3 !== 2);
    const text = `${sparse(59).join(',')} ${sparse(23).join(',')} ${sparse(31, 1).join(',')} ${sparse(12, 1).join(',')} MON,WED,FRI,SUN`;
    for (const expression of translate(text)) expect(expression.length).toBeLessThanOrEqual(256);
  });
});
