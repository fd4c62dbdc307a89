import { expect, test } from 'vitest';
import { fleetFile } from '../../../lib/contracts/fleet.ts';
import { draw, fails, type Place, placesOf, uidOf, workSeconds } from '../../../local/agents/behaviour.ts';

const fleet = fleetFile.parse({
  apiVersion: 'block-rollout/v1',
  organizations: [
    {
      name: 'acme',
      labels: { tier: 'gold' },
      workspaces: [
        {
          name: 'prod',
          labels: { env: 'prod' },
          blocks: [{ name: 'acme/dns' }],
          clusters: [
            { name: 'a', labels: { region: 'fra' }, apps: [{ name: 'polycrate-operator', installed_version: '1.0.0' }] },
            { name: 'b', labels: { env: 'staging' }, blocks: [{ name: 'acme/cert', app: 'certs' }] },
            { name: 'off', active: false },
          ],
        },
      ],
    },
  ],
  simulation: {
    seed: 7,
    default: { seconds: [1, 3] },
    rules: [
      { match: 'tier=gold', fail: 'always' },
      { match: 'env=staging', fail: 'first:2' },
      { match: 'region=fra', silent: true },
      { cluster: 'acme/prod/b', fail: 0.5 },
      { match: 'region=fra', silent: false },
    ],
  },
});
const places = new Map(placesOf(fleet).map((place) => [place.path, place]));
const at = (path: string): Place => {
  const place = places.get(path);
  if (place === undefined) throw new Error(path);
  return place;
};

test('an agent lives in every active cluster and in a workspace with blocks of its own', () => {
  expect([...places.keys()].sort()).toEqual(['acme/prod', 'acme/prod/a', 'acme/prod/b']);
  expect(at('acme/prod/a').apps).toEqual(new Map([['polycrate-operator', '1.0.0']]));
  expect(at('acme/prod/b').appOfBlock.get('acme/cert')).toBe('certs');
});

test('rules go by effective labels, the nearest label wins, and of several rules the last one counts', () => {
  expect(at('acme/prod/a').behaviour).toEqual({ seconds: [1, 3], fail: 'always', silent: false });
  expect(at('acme/prod/b').behaviour.fail).toBe(0.5);
  expect(at('acme/prod').behaviour.fail).toBe('always');
});

test('failing: always, the first n attempts, or a share', () => {
  const place = at('acme/prod/a');
  const as = (fail: number | string) => ({ ...place, behaviour: { ...place.behaviour, fail } });
  expect([1, 2, 3].map((n) => fails(1, as('first:2'), 'x', n))).toEqual([true, true, false]);
  expect([1, 9].map((n) => fails(1, as('always'), 'x', n))).toEqual([true, true]);
  expect(fails(1, as(0), 'x', 1)).toBe(false);
  expect(fails(1, as(1), 'x', 1)).toBe(true);
  const share = Array.from({ length: 2000 }, (_, n) => fails(1, as(0.25), 'x', n)).filter(Boolean).length / 2000;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.3);
});

test('the same seed plays the same game, another seed another one', () => {
  const place = at('acme/prod/b');
  const game = (seed: number) => Array.from({ length: 20 }, (_, n) => workSeconds(seed, place, 'x', n));
  expect(game(7)).toEqual(game(7));
  expect(game(7)).not.toEqual(game(8));
  for (const seconds of game(7)) expect(seconds >= 1 && seconds <= 3).toBe(true);
  expect(draw(1, 'a', 1)).not.toBe(draw(1, 'a', 2));
  expect(uidOf('acme/prod/a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uidOf('acme/prod/a')).not.toBe(uidOf('acme/prod/b'));
});
