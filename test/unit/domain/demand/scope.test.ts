import { describe, expect, it } from 'vitest';
import { effectiveLabels, inScope, matches, parseSelector, type ScopeConfig, scopeTarget } from '../../../../lib/domain/demand/scope.ts';
import type { Labels } from '../../../../lib/domain/shared/fleet.ts';

function selects(text: string, labels: Labels): boolean {
  const parsed = parseSelector(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason} at ${parsed.position}`);
  return matches(parsed.selector, labels);
}

describe('label selectors in Kubernetes syntax (SPEC §1)', () => {
  const labels = { env: 'prod', region: 'fra', 'app.kubernetes.io/name': 'x', size: '10', empty: '' };

  it.each([
    ['env', true],
    ['gone', false],
    ['!gone', true],
    ['! env', false],
    ['env=prod', true],
    ['env==prod', true],
    ['env = staging', false],
    ['env!=staging', true],
    ['env!=prod', false],
    ['gone!=prod', true],
    ['env in (prod,staging)', true],
    ['env in ( staging )', false],
    ['gone in (prod)', false],
    ['env notin (staging)', true],
    ['env notin(prod)', false],
    ['gone notin (prod)', true],
    ['env in (prod,staging), !legacy', true],
    ['env=prod,region=ber', false],
    ['app.kubernetes.io/name=x', true],
    ['empty=', true],
    ['empty', true],
    ['env=', false],
    ['empty in (,a)', true],
    ['size>9', true],
    ['size>10', false],
    ['size<11', true],
    ['size < 9', false],
    ['env>1', false],
    ['gone>1', false],
    ['in in (in)', false],
    ['notin', false],
  ])('%s: %s', (text, selected) => {
    expect(selects(text, labels)).toBe(selected);
  });

  it('compares whole values: prod is not prod-eu', () => {
    expect(selects('ws=prod', { ws: 'prod-eu' })).toBe(false);
  });

  it('sees no label where an object has something built in', () => {
    expect(selects('constructor', {})).toBe(false);
    expect(selects('!toString', {})).toBe(true);
  });

  it.each([
    ['', 1, 'expected a label name, found the end'],
    ['   ', 4, 'expected a label name, found the end'],
    ['env,', 5, 'expected a label name, found the end'],
    [',env', 1, 'expected a label name, found ","'],
    ['!', 2, 'expected a label name, found the end'],
    ['env in prod', 8, 'expected a list of values in parentheses, found "prod"'],
    ['env in', 7, 'expected a list of values in parentheses, found the end'],
    ['env in (prod', 13, 'expected "," or ")", found the end'],
    ['env in (a b)', 11, 'expected "," or ")", found "b"'],
    ['env in ()', 9, 'the list of values is empty'],
    ['env prod', 5, 'expected "," or the end, found "prod"'],
    ['env=prod)', 9, 'expected "," or the end, found ")"'],
    ['size>ten', 6, '"ten" is not a whole number'],
    ['size>', 6, 'expected a whole number, found the end'],
    ['env===prod', 6, 'expected "," or the end, found "="'],
  ])('%j is refused at %i: %s', (text, position, reason) => {
    expect(parseSelector(text)).toEqual({ ok: false, position, reason });
  });
});

describe('effective labels', () => {
  it('the nearer one wins: organization < workspace < cluster', () => {
    expect(effectiveLabels({ a: 'o', b: 'o', c: 'o' }, { b: 'w', c: 'w' }, { c: 'c' })).toEqual({ a: 'o', b: 'w', c: 'c' });
    expect(effectiveLabels({ a: 'o' }, { a: 'w' }, null)).toEqual({ a: 'w' });
  });
});

describe('scope (SPEC §1)', () => {
  const all: ScopeConfig = { target_kind: 'k8s_cluster', target_organizations: [], target_workspaces: [], scope_expressions: [] };
  const owner = (id: string, labels: Labels = {}) => ({ id, labels, archived: false });
  const cluster = (organization: string, workspace: string, labels: Labels = {}) =>
    scopeTarget(owner(organization), owner(workspace), { ...owner('c', labels), active: true });

  const fleet = [
    ...[1, 2, 3].map(() => cluster('org-1', 'prod')),
    ...[1, 2, 3].map(() => cluster('org-1', 'prod-eu')),
    ...[1, 2, 3, 4].map(() => cluster('org-2', 'two')),
  ];
  const count = (config: Partial<ScopeConfig>) => fleet.filter((t) => inScope({ ...all, ...config }, t)).length;

  it('B61 (b) lists stored empty mean all', () => {
    expect(count({})).toBe(10);
  });

  it('B61 (c) an organization with empty workspaces is that organization', () => {
    expect(count({ target_organizations: ['org-1'] })).toBe(6);
  });

  it('B61 (d) an unknown workspace is nobody, not everybody', () => {
    expect(count({ target_workspaces: ['nowhere'] })).toBe(0);
  });

  it('B61 (e) workspace prod is not prod-eu', () => {
    expect(count({ target_workspaces: ['prod'] })).toBe(3);
  });

  it('organizations and workspaces are a union', () => {
    expect(count({ target_organizations: ['org-2'], target_workspaces: ['prod'] })).toBe(7);
  });

  it('archived members stay in the list and match nothing', () => {
    const gone = scopeTarget({ ...owner('org-1'), archived: true }, owner('prod'), { ...owner('c'), active: true });
    expect(inScope({ ...all, target_organizations: ['org-1'] }, gone)).toBe(false);
    expect(inScope(all, gone)).toBe(false);
  });

  it.each([
    ['archived workspace', scopeTarget(owner('o'), { ...owner('w'), archived: true }, null), 'workspace'],
    ['archived cluster', scopeTarget(owner('o'), owner('w'), { ...owner('c'), archived: true, active: true }), 'k8s_cluster'],
    ['inactive cluster', scopeTarget(owner('o'), owner('w'), { ...owner('c'), active: false }), 'k8s_cluster'],
  ] as const)('an %s is out of every scope', (_name, target, target_kind) => {
    expect(inScope({ ...all, target_kind }, target)).toBe(false);
  });

  it('clusters and workspaces are different kinds of target', () => {
    const workspace = scopeTarget(owner('org-1'), owner('prod'), null);
    expect(inScope(all, workspace)).toBe(false);
    expect(inScope({ ...all, target_kind: 'workspace' }, workspace)).toBe(true);
    expect(count({ target_kind: 'workspace' })).toBe(0);
  });

  it('all expressions must match the effective labels', () => {
    const target = scopeTarget(owner('o', { env: 'prod' }), owner('w', { tier: 'a' }), { ...owner('c', { env: 'staging' }), active: true });
    expect(inScope({ ...all, scope_expressions: ['env=staging', 'tier=a'] }, target)).toBe(true);
    expect(inScope({ ...all, scope_expressions: ['env=prod', 'tier=a'] }, target)).toBe(false);
    expect(inScope({ ...all, scope_expressions: ['tier=a', 'tier=b'] }, target)).toBe(false);
  });

  it('an expression that cannot be read selects nobody', () => {
    expect(count({ scope_expressions: ['env in'] })).toBe(0);
    expect(count({ scope_expressions: [''] })).toBe(0);
  });
});
