// Where the accounts of a kind rest. The tables of operators and of members have the same columns, so that one set of
// statements serves both; their names are text of the program's own.
import { number, type Sources } from '../../../platform/database/row-shape.ts'
import { plainSql, type Sql } from '../../../platform/database/sql.ts'
import type { Account, AccountKind } from '../rules/account.ts'

export interface AccountTables {
  readonly kind: AccountKind
  readonly accounts: Sql
  readonly sessions: Sql
  /** Tries at logins that nobody has. */
  readonly tries: Sql
  readonly totp: Sql
  readonly recoveryCodes: Sql
  /** Of the table of accounts as `o`: whether somebody signs in with a password. */
  readonly hasPassword: string
  /** Tokens that end with all access; undefined: there are none. */
  readonly tokens?: Sql
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

/** Of the table of accounts as `o`. */
export function accountSources({ totp, hasPassword }: AccountTables): Sources<Account> {
  return {
    login: 'o.login',
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
