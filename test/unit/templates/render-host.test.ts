import { describe, expect, it } from 'vitest';
import { RemoteRenderer } from '../../../lib/adapters/templates/remote-renderer.ts';
import { RenderHost } from '../../../lib/adapters/templates/render-host.ts';
import type { RenderJob } from '../../../lib/app/engine/renderer.ts';
import { renderRequest } from '../../../lib/contracts/render.ts';
import { startEvilWorker } from '../../support/evil-worker.ts';

const host = new RenderHost();
let calls = 0;
const renderer = new RemoteRenderer((request) => {
  calls += 1;
  return host.render(renderRequest.parse(JSON.parse(JSON.stringify(request))));
});
const text = (template: string, context = {}): RenderJob => ({ kind: 'text', template, context });

describe('a page of templates', () => {
  it('is one call, answered in order, with what all share and what each has', async () => {
    calls = 0;
    const jobs = [
      text('{{ v }}-{{ n }}', { n: 1 }),
      { kind: 'config' as const, template: 'a: {{ n }}\nb: {{ v }}', context: { n: 2 } },
      text('{{ nobody }}'),
      text('{{ v }}-{{ n }}', { n: 3, v: 'own' }),
    ];
    expect(await renderer.render({ shared: { v: 'all' }, jobs })).toEqual([
      { ok: true, value: 'all-1' },
      { ok: true, value: { a: 2, b: 'all' } },
      { ok: false, error: 'line 1: nobody is not defined' },
      { ok: true, value: 'own-3' },
    ]);
    expect(calls).toBe(1);
  });

  it('goes in several calls when the answers are long, and loses none', async () => {
    const long = 'x'.repeat(60_000);
    const jobs = Array.from({ length: 120 }, (_, n) => text(`${long}{{ n }}`, { n }));
    const answers = await renderer.render({ shared: {}, jobs });
    expect(answers.map((answer) => answer.ok && String(answer.value).slice(60_000))).toEqual(jobs.map((_, n) => String(n)));
  });

  it('goes in several calls when the contexts are long', async () => {
    const jobs = Array.from({ length: 12 }, (_, n) => text('{{ n }}', { n, labels: { a: 'y'.repeat(700_000) } }));
    expect(await renderer.render({ shared: {}, jobs })).toEqual(jobs.map((_, n) => ({ ok: true, value: String(n) })));
  });

  it('has no config that gets long by its aliases', async () => {
    const template = `a: &a ${'x'.repeat(60_000)}\nb: [${'*a, '.repeat(900)}*a]`;
    const [answer] = await renderer.render({ shared: {}, jobs: [{ kind: 'config', template, context: {} }] });
    expect(answer).toEqual({ ok: false, error: expect.stringContaining('256 KiB') });
  });
});

describe('a template that has got hold of its worker', () => {
  const evil = new RenderHost(startEvilWorker);
  const answers = async (...templates: string[]) => {
    const host = new RemoteRenderer((request) => evil.render(request));
    return host.render({ shared: {}, jobs: templates.map((template) => text(template)) });
  };
  const fine = { ok: true, value: 'fine' };

  it('and never ends is stopped after two seconds of work, and those beside it are rendered', async () => {
    const stopped = { ok: false, error: expect.stringContaining('stopped after 2 s') };
    expect(await answers('fine', 'loop', 'fine', 'pattern', 'fine')).toEqual([fine, stopped, fine, stopped, fine]);
  }, 60_000);

  it('and takes all memory is stopped, and those beside it are rendered', async () => {
    const stopped = { ok: false, error: expect.stringContaining('64 MiB') };
    expect(await answers('fine', 'memory', 'fine')).toEqual([fine, stopped, fine]);
  }, 60_000);

  it('is not blamed for the memory that others left full', async () => {
    const leaks = Array.from({ length: 12 }, () => 'leak');
    expect(await answers(...leaks)).toEqual(leaks.map(() => ({ ok: true, value: 'leaked' })));
  }, 60_000);

  it('may not hold up a page for all of its targets', async () => {
    const loops = Array.from({ length: 40 }, () => 'loop');
    const result = await answers(...loops, 'fine');
    expect(result.filter((answer) => !answer.ok && answer.error.includes('for one page of targets')).length).toBeGreaterThan(30);
    expect(result.filter((answer) => answer.ok)).toEqual([fine]);
  }, 120_000);

  it('and ends it fails the page, which is a fault of ours, and the next page is rendered', async () => {
    await expect(answers('exit')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await answers('fine')).toEqual([fine]);
  });

  it('finds no environment, no files, no processes and no way to make a program', async () => {
    const found = await answers('environment', 'files', 'data', 'write', 'child', 'worker', 'program');
    const denied = { ok: true, value: 'ERR_ACCESS_DENIED' };
    expect(found).toEqual([
      { ok: true, value: '' },
      denied,
      denied,
      denied,
      denied,
      denied,
      { ok: true, value: expect.stringContaining('Code generation from strings disallowed') },
    ]);
  });
});
