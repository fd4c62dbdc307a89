import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkFleet, mistakeLine } from '../../../lib/app/import/check.ts';
import { configBuilder } from '../../../lib/app/import/config-builder.ts';
import { parseSelector } from '../../../lib/domain/demand/selector.ts';

const checks = {
  config: configBuilder.check,
  selector: (text: string) => {
    const parsed = parseSelector(text);
    return parsed.ok ? null : parsed.reason;
  },
};

function mistakes(text: string): string[] {
  const checked = checkFleet(text, checks);
  return checked.ok ? [] : checked.mistakes.map((mistake) => mistakeLine('f', mistake).replace(/^f:/, ''));
}

const HEAD = 'apiVersion: block-rollout/v1\n';
const organization = (rest: string) => `${HEAD}organizations:\n  - name: acme\n    ${rest}\n`;
const cluster = (rest: string) =>
  `${HEAD}organizations: [{name: acme, workspaces: [{name: prod, clusters: [\n {name: fra-1, ${rest}}]}]}]\n`;

describe('the fleet file is YAML that means one thing', () => {
  it.each([
    ['an empty file', '', ['1:1 is empty or not a map; a fleet file begins with "apiVersion: block-rollout/v1"']],
    ['a list', '- a\n', ['1:1 is empty or not a map; a fleet file begins with "apiVersion: block-rollout/v1"']],
    ['a doubled key', `${HEAD}organizations: []\norganizations: []\n`, ['3:1 organizations: this key is there twice; remove one of them']],
    ['a second document', `${HEAD}---\na: 1\n`, ['2:1 a second document begins here; write one document per file (remove the line "---")']],
    ['a key that is a number', `${HEAD}system_config: {1: a}\n`, ['2:17 system_config: a key must be a text (write "1" in quotes)']],
    ['.inf', `${HEAD}system_config: {X: .inf}\n`, [expect.stringMatching(/^2:20 system_config.X: .inf is not a finite number/)]],
    ['.nan', `${HEAD}system_config: {X: .nan}\n`, [expect.stringMatching(/^2:20 system_config.X: .nan is not a finite number/)]],
    [
      'an integer beyond 2^53',
      `${HEAD}system_config: {X: 9007199254740993}\n`,
      ['2:20 system_config.X: 9007199254740993 is beyond ±2^53 and would be rounded; write it in quotes as a text'],
    ],
    ['an unknown tag', `${HEAD}system_config: {X: !env HOME}\n`, ['2:20 Unresolved tag: !env; tags are not read, remove it']],
    ['an unknown anchor', `${HEAD}system_config: {X: *nope}\n`, ['2:20 system_config.X: there is no anchor &nope before this alias']],
    ['an anchor in itself', `${HEAD}system_config: &s {X: *s}\n`, [expect.stringContaining('the anchor &s contains itself')]],
    ['a tab as indentation', `${HEAD}organizations:\n\t- name: a\n`, [expect.stringContaining('a tab is used as indentation; use blanks')]],
    ['an open bracket', `${HEAD}organizations: [{name: a}\n`, [expect.stringMatching(/^\d+:\d+ Flow sequence/)]],
    ['__proto__', `${HEAD}system_config: {__proto__: {a: 1}}\n`, ['2:17 system_config: the key __proto__ is not allowed; choose another']],
  ])('refuses %s', (_name, text, expected) => {
    expect(mistakes(text)).toEqual(expected);
  });

  it('B48 refuses an anchor bomb at once, and takes honest anchors', () => {
    const levels = Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`);
    const started = performance.now();
    expect(mistakes(`${HEAD}a0: &a0 [1, 1, 1, 1]\n${levels.join('\n')}\n`)).toEqual([expect.stringContaining('more than 10000 values')]);
    expect(performance.now() - started).toBeLessThan(1000);
    const honest = Array.from({ length: 150 }, (_, n) => `{name: c-${n}, labels: *l}`).join(', ');
    expect(mistakes(`${HEAD}organizations: [{name: a, labels: &l {env: prod}, workspaces: [{name: w, clusters: [${honest}]}]}]`)).toEqual(
      [],
    );
  });

  it('B47 merges maps, own keys first, earlier maps before later ones', () => {
    const text = organization('labels: {<<: [{a: "1", b: "1"}, {b: "2", c: "2"}], c: "3"}');
    const checked = checkFleet(text, checks);
    expect(checked.ok && checked.fleet.organizations?.[0]?.labels).toEqual({ a: '1', b: '1', c: '3' });
    expect(mistakes(organization('<<: 5'))).toEqual([
      '4:5 organizations[0]: "<<" merges a map or a list of maps, and this is something else',
    ]);
  });

  it('names the place of a mistake inside a merged map', () => {
    expect(mistakes(`${HEAD}organizations:\n  - &o\n    name: a\n    criticality: urgent\n  - <<: *o\n    name: b\n`)).toEqual([
      '5:18 organizations[0].criticality: must be one of high, medium, low',
      '5:18 organizations[1].criticality: must be one of high, medium, low',
    ]);
  });

  it('refuses nesting without end', () => {
    for (const depth of [201, 5000]) {
      expect(mistakes(`${HEAD}system_config: {X: ${'['.repeat(depth)}${']'.repeat(depth)}}`)).toEqual([
        expect.stringContaining('nested too deeply'),
      ]);
    }
  });

  it('reads an alias as what stood before it', () => {
    const text = `${HEAD}system_config:\n  A: &x one\n  B: &l [*x]\n  C: &x two\n  D: *l\n  E: *x\n`;
    const checked = checkFleet(text, checks);
    expect(checked.ok && checked.fleet.system_config).toEqual({ A: 'one', B: ['one'], C: 'two', D: ['one'], E: 'two' });
  });
});

describe('every field is checked', () => {
  it.each([
    ['no apiVersion', 'organizations: []\n', '1:1 apiVersion: must be "block-rollout/v1"'],
    ['another apiVersion', 'apiVersion: block-rollout/v2\n', '1:13 apiVersion: must be "block-rollout/v1"'],
    ['a name that is missing', `${HEAD}organizations: [{}]\n`, '2:17 organizations[0].name: is missing; it must be a text'],
    ['an empty name', `${HEAD}organizations: [{name: ""}]\n`, '2:24 organizations[0].name: must have 1 to 253 characters'],
    ['an outer blank', `${HEAD}organizations: [{name: "a "}]\n`, '2:24 organizations[0].name: must not begin or end with a blank'],
    [
      'B45 a line break in a name',
      `${HEAD}organizations: [{name: "a\\nreplicas: 99"}]\n`,
      '2:24 organizations[0].name: must not contain control characters or line breaks',
    ],
    [
      'a name that is not composed',
      `${HEAD}organizations: [{name: "u\u0308"}]\n`,
      '2:24 organizations[0].name: must be Unicode in the composed form (NFC)',
    ],
    ['254 characters', `${HEAD}organizations: [{name: ${'a'.repeat(254)}}]\n`, '2:24 organizations[0].name: must have 1 to 253 characters'],
    [
      'a name that is a number',
      `${HEAD}organizations: [{name: 007}]\n`,
      '2:24 organizations[0].name: must be a text; write "007" in quotes',
    ],
    [
      'a label that is a number',
      organization('labels: {v: 1.10}'),
      '4:17 organizations[0].labels.v: must be a text; write "1.10" in quotes',
    ],
    [
      'a label of more than 1 KiB',
      organization(`labels: {v: ${'é'.repeat(513)}}`),
      '4:17 organizations[0].labels.v: must be at most 1 KiB',
    ],
    ['an unknown criticality', organization('criticality: High'), '4:18 organizations[0].criticality: must be one of high, medium, low'],
    ['a contact that is none', organization('contacts: [nobody]'), '4:16 organizations[0].contacts[0]: must be an e-mail address'],
    ['a list that is none', organization('workspaces: prod'), '4:17 organizations[0].workspaces: must be a list'],
    [
      'a zone that does not exist',
      organization('maintenance_window: {time_zone: Europe/Berln, time_slots: [{start: "22:00", end: "04:00"}]}'),
      expect.stringMatching(/^4:37 organizations\[0\].maintenance_window.time_zone: .*Europe\/Berln/),
    ],
    [
      'an app without a version',
      cluster('apps: [{name: polycrate-operator}]'),
      '3:23 organizations[0].workspaces[0].clusters[0].apps[0].installed_version: is missing; it must be a text',
    ],
    [
      'a version that is a number',
      cluster('apps: [{name: a, installed_version: 0.33}]'),
      '3:52 organizations[0].workspaces[0].clusters[0].apps[0].installed_version: must be a text; write "0.33" in quotes',
    ],
    [
      'a component that is none',
      cluster('blocks: [{name: b, created_by_component: me}]'),
      '3:57 organizations[0].workspaces[0].clusters[0].blocks[0].created_by_component: must be one of cli, operator, api',
    ],
    [
      'a percentage as text',
      `${HEAD}system_config: {OPERATOR_ROLLOUT_PERCENTAGE: "10%"}\n`,
      '2:46 system_config.OPERATOR_ROLLOUT_PERCENTAGE: must be a whole number from 0 to 100',
    ],
    [
      'a percentage above 100',
      `${HEAD}system_config: {OPERATOR_ROLLOUT_PERCENTAGE: 101}\n`,
      '2:46 system_config.OPERATOR_ROLLOUT_PERCENTAGE: must be at most 100',
    ],
    [
      'a fraction of a percent',
      `${HEAD}system_config: {OPERATOR_ROLLOUT_PERCENTAGE: 12.5}\n`,
      '2:46 system_config.OPERATOR_ROLLOUT_PERCENTAGE: must be a whole number',
    ],
    [
      'a target that is no semver',
      `${HEAD}system_config: {OPERATOR_BLOCK_VERSION: latest}\n`,
      '2:41 system_config.OPERATOR_BLOCK_VERSION: must be a semantic version such as 0.34.0, not "latest"',
    ],
    [
      'an empty target',
      `${HEAD}system_config: {OPERATOR_BLOCK_VERSION: ""}\n`,
      '2:41 system_config.OPERATOR_BLOCK_VERSION: must not be empty',
    ],
    [
      'warning above critical',
      `${HEAD}system_config: {AGENT_WARNING_AFTER_SECONDS: 9, AGENT_CRITICAL_AFTER_SECONDS: 8}\n`,
      '2:46 system_config.AGENT_WARNING_AFTER_SECONDS: must not be greater than AGENT_CRITICAL_AFTER_SECONDS (8)',
    ],
    [
      'a flag for one change',
      `${HEAD}system_config: {allow_downgrade: true}\n`,
      '2:17 system_config.allow_downgrade: belongs to a change by hand (PATCH), not into a file',
    ],
    [
      'a config without a block',
      `${HEAD}rollout_configs: [{name: c, kind: trigger, trigger_type: reconciliation}]\n`,
      '2:19 rollout_configs[0].block_name: is required on a trigger config: the block to roll out.',
    ],
    [
      'a cron expression that never fires',
      `${HEAD}rollout_configs: [{name: c, kind: trigger, trigger_type: schedule, block_name: b, cron_expression: "0 0 30 2 *"}]\n`,
      expect.stringMatching(/^2:\d+ rollout_configs\[0\].cron_expression: /),
    ],
    [
      'a trigger type that is none',
      `${HEAD}rollout_configs: [{name: c, kind: trigger, trigger_type: cron, block_name: b}]\n`,
      expect.stringMatching(/^2:\d+ rollout_configs\[0\].trigger_type: must be reconciliation or schedule$/),
    ],
    [
      'a scope that cannot be read',
      `${HEAD}rollout_configs: [{name: c, scope_expressions: ["env in ("]}]\n`,
      expect.stringMatching(/^2:49 rollout_configs\[0\].scope_expressions\[0\]: /),
    ],
    [
      'a percentage in a config',
      `${HEAD}rollout_configs: [{name: c, max_concurrent_percent: "10%"}]\n`,
      '2:53 rollout_configs[0].max_concurrent_percent: must be a number',
    ],
    [
      'an unknown field of a config',
      `${HEAD}rollout_configs: [{name: c, retries: 1}]\n`,
      expect.stringMatching(/^2:29 rollout_configs\[0\].retries: /),
    ],
    [
      'a share that is none',
      `${HEAD}simulation: {default: {fail: 7}}\n`,
      '2:30 simulation.default.fail: must be a share from 0 to 1, "always" or "first:N"',
    ],
    [
      'first without a number',
      `${HEAD}simulation: {default: {fail: first:0}}\n`,
      '2:30 simulation.default.fail: must be a share from 0 to 1, "always" or "first:N"',
    ],
    [
      'seconds the wrong way round',
      `${HEAD}simulation: {default: {seconds: [4, 1]}}\n`,
      '2:33 simulation.default.seconds: the first number must not be greater than the second',
    ],
    [
      'a rule for nobody',
      `${HEAD}simulation: {rules: [{fail: 1}]}\n`,
      '2:22 simulation.rules[0]: needs either match (a label selector) or cluster (organization/workspace/cluster)',
    ],
    [
      'a rule for an unknown cluster',
      `${HEAD}simulation: {rules: [{cluster: a/b/c}]}\n`,
      '2:32 simulation.rules[0].cluster: there is no cluster "a/b/c" in this file (write organization/workspace/cluster)',
    ],
    [
      'a selector that cannot be read',
      `${HEAD}simulation: {rules: [{match: "env in ("}]}\n`,
      expect.stringMatching(/^2:30 simulation.rules\[0\].match: /),
    ],
  ])('refuses %s', (_name, text, expected) => {
    expect(mistakes(text)).toEqual([expected]);
  });

  const OPEN = 'time_slots: [{start: "22:00", end: "04:00"}]';
  it.each([
    [
      'start 24:00',
      'time_slots: [{start: "24:00", end: "04:00"}]',
      '4:63 organizations[0].maintenance_window.time_slots[0].start: must be a time',
    ],
    [
      'a time without quotes that is a number',
      'time_slots: [{start: 22, end: "04:00"}]',
      '4:63 organizations[0].maintenance_window.time_slots[0].start: must be a time',
    ],
    [
      'end = start',
      'time_slots: [{start: "22:00", end: "22:00"}]',
      '4:77 organizations[0].maintenance_window.time_slots[0].end: is the same as start',
    ],
    ['an unknown day', 'time_slots: [{days: [monday], start: "22:00", end: "23:00"}]', 'time_slots[0].days[0]: "monday" is not a day'],
    ['no slot at all', 'time_slots: []', '4:54 organizations[0].maintenance_window.time_slots: is empty, so this window would never open'],
    ['slots left out', 'freezes: []', '4:25 organizations[0].maintenance_window.time_slots: must be a list'],
    ['an unknown field', `${OPEN}, timezone: UTC`, 'organizations[0].maintenance_window.timezone: is not known here'],
    ['a freeze on a date that does not exist', `${OPEN}, freezes: [{from: 2026-02-30, to: 2026-03-01}]`, 'freezes[0].from: must be a date'],
    [
      'a freeze that ends before it begins',
      `${OPEN}, freezes: [{from: 2026-03-02, to: 2026-03-01}]`,
      'freezes[0].to: 2026-03-01 is not after from',
    ],
  ])('refuses a window with %s', (_name, fields, expected) => {
    const found = mistakes(organization(`maintenance_window: {time_zone: UTC, ${fields}}`));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  it('names a doubled name with the line of the first, under its own parent only', () => {
    const text = `${HEAD}organizations:
  - name: a
    workspaces:
      - name: w
        blocks: [{name: b}, {name: b}]
        clusters:
          - name: c
            apps: [{name: x, installed_version: null}, {name: x, installed_version: null}]
            blocks: [{name: b}]
          - name: c
      - name: w
  - name: A
  - name: a
    workspaces: [{name: w}]
rollout_configs: [{name: r}, {name: r}]
`;
    expect(mistakes(text)).toEqual([
      '6:36 organizations[0].workspaces[0].blocks[1].name: "b" is already the name of the entry in line 6',
      '9:63 organizations[0].workspaces[0].clusters[0].apps[1].name: "x" is already the name of the entry in line 9',
      '11:19 organizations[0].workspaces[0].clusters[1].name: "c" is already the name of the entry in line 8',
      '12:15 organizations[0].workspaces[1].name: "w" is already the name of the entry in line 5',
      '14:11 organizations[2].name: "a" is already the name of the entry in line 3',
      '16:37 rollout_configs[1].name: "r" is already the name of the entry in line 16',
    ]);
  });

  it('names every mistake of a file at once, in the order of the file', () => {
    const text = `${HEAD}system_config: {OPERATOR_ROLLOUT_PERCENTAGE: -5}
organizations:
  - name: acme
    critical: high
    labels: {a: 1}
  - name: acme
  - 7
  - name: x
    name: y
simulation: {speed: 3}
`;
    expect(mistakes(text)).toEqual([
      '2:46 system_config.OPERATOR_ROLLOUT_PERCENTAGE: must be at least 0',
      expect.stringMatching(/^5:5 organizations\[0\].critical: is not a field of an organization; there are: name, /),
      '6:17 organizations[0].labels.a: must be a text; write "1" in quotes',
      '7:11 organizations[1].name: "acme" is already the name of the entry in line 4',
      '8:5 organizations[2]: must be a map',
      '10:5 organizations[3].name: this key is there twice; remove one of them',
      '11:14 simulation.speed: is not a field of simulation; there are: seed, default, rules',
    ]);
  });

  it('names a thousand mistakes as readily as one', () => {
    const lines = Array.from({ length: 1000 }, (_, n) => `  - {name: o-${n}, criticality: x}`);
    expect(mistakes(`${HEAD}organizations:\n${lines.join('\n')}\n`)).toHaveLength(1000);
  });

  it('has the same words for the same mistake in JSON', () => {
    expect(mistakes('{"apiVersion": "block-rollout/v1",\n "organizations": [{"name": "a", "name": "b"}, {"nam": 1}]}')).toEqual(
      [
        '2:34 organizations[0].name: this key is there twice; remove one of them',
        expect.stringMatching(/^2:49 organizations\[1\].nam: is not a field/),
        '2:48 organizations[1].name: is missing; it must be a text',
      ].sort((a, b) => String(a).localeCompare(String(b))),
    );
  });

  it('accepts the example', () => {
    expect(mistakes(readFileSync('examples/fleet.yaml', 'utf8'))).toEqual([]);
  });
});
