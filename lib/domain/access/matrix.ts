/** SPEC §9 Access: who may do what, as data. */
export const RIGHTS = [
  /** Rows, blocks, items and runs of the own organization; a wave as id, name and status. */
  'read_own',
  'pause_own_cluster',
  'edit_own_window',
  'edit_own_contacts',
  /** Report, claim, progress, finish, endpoints. */
  'act_as_agent',
  /** Everything global, of every organization. */
  'read_all',
  /** SystemConfig, configs, waves, force, retry, override, keys: everything else. */
  'admin',
] as const;
export type Right = (typeof RIGHTS)[number];

export type Role = 'platform_admin' | 'member' | 'agent';
export type Access = 'read' | 'read_write';

export const ACCESS_MATRIX: Readonly<Record<Role, Readonly<Record<Access, readonly Right[]>>>> = {
  platform_admin: {
    read: ['read_own', 'read_all'],
    read_write: ['read_own', 'read_all', 'pause_own_cluster', 'edit_own_window', 'edit_own_contacts', 'admin'],
  },
  member: {
    read: ['read_own'],
    read_write: ['read_own', 'pause_own_cluster', 'edit_own_window', 'edit_own_contacts'],
  },
  agent: { read: ['act_as_agent'], read_write: ['act_as_agent'] },
};

export function allows(role: Role, access: Access, right: Right): boolean {
  return ACCESS_MATRIX[role][access].includes(right);
}
