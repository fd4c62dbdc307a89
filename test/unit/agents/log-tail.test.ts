import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keptLog, LOG_TAIL_BYTES, mask, tail } from '../../../lib/app/agents/log-tail.ts';

test('short logs are kept whole, long ones from their end', () => {
  expect(tail('done\n')).toBe('done\n');
  const long = `${'x'.repeat(1_000_000)}the end`;
  expect(tail(long)).toHaveLength(LOG_TAIL_BYTES);
  expect(tail(long).endsWith('the end')).toBe(true);
});

test('a tail is at most 64 KiB of UTF-8 and never begins within a character', () => {
  const letters = fc.array(fc.constantFrom('a', 'ä', '€', '😀', '\n'), { minLength: 20_000, maxLength: 40_000 });
  fc.assert(
    fc.property(letters, (parts) => {
      const text = parts.join('');
      const kept = tail(text);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(LOG_TAIL_BYTES);
      expect(kept).not.toContain('�');
      expect(text.endsWith(kept)).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test('values given out are masked wherever they stand, also where the tail would cut them', () => {
  expect(mask('user=admin pass=admin123', ['admin', 'admin123'])).toBe('user=*** pass=***');
  expect(mask('nothing', [''])).toBe('nothing');
  const secret = 'S3CRET'.repeat(10);
  const text = `${secret}${'y'.repeat(LOG_TAIL_BYTES - 30)}`;
  expect(keptLog(null, { stdout: text, stderr: null }, [secret], 1).stdout).not.toContain('CRET');
});

test('a stream that a message leaves out stays as it was', () => {
  const before = { stdout: 'one', stderr: 'two', at: 1 };
  expect(keptLog(before, { stdout: 'three', stderr: null }, [], 2)).toEqual({ stdout: 'three', stderr: 'two', at: 2 });
  expect(keptLog(null, { stdout: null, stderr: 'x' }, [], 2)).toEqual({ stdout: '', stderr: 'x', at: 2 });
});
