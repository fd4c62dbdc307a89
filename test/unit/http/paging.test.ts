import { describe, expect, test } from 'vitest';
import { AppError } from '../../../lib/app/errors.ts';
import { envelope, pageRequest } from '../../../lib/http/paging.ts';

const address = new URL('https://rollout.example/api/v1/blocks/?search=a%26b&page=3&page_size=10');

describe('pages (SPEC §9)', () => {
  test('50 rows when nothing is said', () => expect(pageRequest({})).toEqual({ page: 1, page_size: 50, cursor: null }));

  test.each([
    [50, 200],
    [200, 50],
    [10_000, 1],
  ])('page %i of %i rows is the deepest', (page, page_size) => {
    expect(pageRequest({ page, page_size }).page).toBe(page);
    expect(() => pageRequest({ page: page + 1, page_size })).toThrow(AppError);
  });

  test('a page and a cursor at once are refused by name', () => {
    expect(() => pageRequest({ page: 2, cursor: 'x' })).toThrow(/page/);
  });

  test('next carries the cursor and every filter, previous the page before', () => {
    const found = { count: 95, cursor: 'c/1', rows: [] };
    const page = envelope(found, ['row'], { page: 3, page_size: 10, cursor: null }, address);
    expect(page.count).toBe(95);
    expect(Object.fromEntries(new URL(page.next ?? '').searchParams)).toEqual({ search: 'a&b', page_size: '10', cursor: 'c/1' });
    expect(Object.fromEntries(new URL(page.previous ?? '').searchParams)).toEqual({ search: 'a&b', page_size: '10', page: '2' });
  });

  test('the last page has no next, the first and those after a cursor no previous', () => {
    const last = { count: 1, cursor: null, rows: [] };
    expect(envelope(last, [], { page: 1, page_size: 10, cursor: null }, address)).toMatchObject({ next: null, previous: null });
    expect(envelope(last, [], { page: 1, page_size: 10, cursor: 'x' }, address)).toMatchObject({ next: null, previous: null });
  });
});
