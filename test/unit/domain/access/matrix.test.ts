import { describe, expect, it } from 'vitest';
import { type Access, allows, RIGHTS, type Role } from '../../../../lib/domain/access/matrix.ts';

describe('access (SPEC §9)', () => {
  it.each<[Role, Access, string]>([
    ['platform_admin', 'read_write', 'read_own pause_own_cluster edit_own_window edit_own_contacts read_all admin'],
    ['platform_admin', 'read', 'read_own read_all'],
    ['member', 'read_write', 'read_own pause_own_cluster edit_own_window edit_own_contacts'],
    ['member', 'read', 'read_own'],
    ['agent', 'read_write', 'act_as_agent'],
    ['agent', 'read', 'act_as_agent'],
  ])('%s with %s may: %s', (role, access, rights) => {
    expect(RIGHTS.filter((right) => allows(role, access, right)).join(' ')).toBe(rights);
  });

  it('no right belongs to members that reading admins lack, except those that write', () => {
    expect(RIGHTS.filter((r) => allows('member', 'read', r) && !allows('platform_admin', 'read', r))).toEqual([]);
  });
});
