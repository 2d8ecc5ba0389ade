// The tables of one kind of account. Operators and members have the same columns, so that the same statements serve
// both. Table names are constants of the program.
import { number, type Sources } from '../../../platform/database/row-shape.ts'
import { plainSql, type Sql } from '../../../platform/database/sql.ts'
import type { Account, AccountKind } from '../rules/account.ts'

export interface AccountTables {
  readonly kind: AccountKind
  readonly accounts: Sql
  readonly sessions: Sql
  /** Attempts at unknown logins. */
  readonly tries: Sql
  readonly totp: Sql
  readonly recoveryCodes: Sql
  /** An expression on the accounts table `o`: whether the account has a password. */
  readonly hasPassword: string
  /** Tokens that are revoked with all access; undefined if there are none. */
  readonly tokens?: Sql
  /** Requests for approval, which end with all access, because an attacker who had the access may have made them. */
  readonly requests?: Sql
}

export const operatorTables: AccountTables = {
  kind: 'operator',
  accounts: plainSql('operators'),
  sessions: plainSql('operator_sessions'),
  tries: plainSql('operator_tries'),
  totp: plainSql('operator_totp'),
  recoveryCodes: plainSql('operator_recovery_codes'),
  hasPassword: 'o.email is null',
  tokens: plainSql('api_tokens'),
  requests: plainSql('approvals'),
}

export const memberTables: AccountTables = {
  kind: 'member',
  accounts: plainSql('member_accounts'),
  sessions: plainSql('member_sessions'),
  tries: plainSql('member_tries'),
  totp: plainSql('member_totp'),
  recoveryCodes: plainSql('member_recovery_codes'),
  hasPassword: 'o.identity is null',
}

/** Reads the accounts table with the alias `o`. */
export function accountSources({ totp, hasPassword }: AccountTables): Sources<Account> {
  return {
    login: 'o.login',
    name: 'o.name',
    status: 'o.status',
    passwordChangedAtMs: number('o.password_changed_at'),
    tries: number('o.tries'),
    lockedUntilMs: number('o.locked_until'),
    createdAtMs: number('o.created_at'),
    hasPassword,
    hasSecondStep: `exists (select 1 from ${totp.text} t where t.login = o.login and t.confirmed_at is not null)`,
    accessVersion: number('o.access_version'),
  }
}
