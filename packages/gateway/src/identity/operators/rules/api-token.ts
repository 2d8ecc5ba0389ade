// Tokens of the admin API: format, scopes, names and lifetimes.
import { Failure, type RandomBytes } from '@tillgate/protocol'
import { mayAct, type Role } from '../../../core/authority/rules/roles.ts'
import type { Operator } from './operator.ts'

/** A request needs both the token's scope and the operator's current role. */
export const scopes = {
  'orders:read': { needs: 'viewer', meaning: 'list and show orders' },
  'orders:act': { needs: 'operator', meaning: 'cancel and refund orders' },
  'callbacks:read': { needs: 'viewer', meaning: 'list and show callbacks and failing hosts' },
  'callbacks:act': { needs: 'operator', meaning: 'resend callbacks, pause and resume hosts' },
  'events:read': { needs: 'viewer', meaning: 'follow the feed of events' },
  'merchants:read': { needs: 'viewer', meaning: 'list and show merchants, balances and statements' },
  'merchants:manage': { needs: 'admin', meaning: 'onboard, change and suspend merchants, manage keys' },
  'wallets:read': { needs: 'viewer', meaning: 'list and show wallets and balances' },
  'wallets:act': { needs: 'operator', meaning: 'lock and unlock wallets' },
  'wallets:manage': { needs: 'admin', meaning: 'add wallets' },
  'links:read': { needs: 'viewer', meaning: 'list and show payment links' },
  'links:act': { needs: 'operator', meaning: 'create, pause, resume and close payment links' },
  'rails:read': { needs: 'viewer', meaning: 'list and show rails' },
  'rails:manage': { needs: 'admin', meaning: 'add, change, pause and resume rails, rotate their secrets' },
  'banks:read': { needs: 'viewer', meaning: 'list and show the operator’s bank accounts' },
  'banks:manage': { needs: 'admin', meaning: 'add, change and close the operator’s bank accounts' },
  'fees:read': { needs: 'viewer', meaning: 'list prices and explain fees' },
  'fees:manage': { needs: 'admin', meaning: 'set and end prices' },
  'payouts:read': {
    needs: 'viewer',
    meaning: 'list and show payouts, runs and schedules, download payment files',
  },
  'money:move': { needs: 'admin', meaning: 'pay out merchants, top up wallets' },
  'ledger:read': { needs: 'viewer', meaning: 'read the trial balance' },
  'ledger:verify': { needs: 'operator', meaning: 'verify the ledger' },
  'reconciliation:read': {
    needs: 'viewer',
    meaning: 'list and show imported statements, breaks and days',
  },
  'reconciliation:act': {
    needs: 'operator',
    meaning:
      'import statements, which book the orders, payouts and refunds that they name, save mappings, assign, note and resolve breaks, close days',
  },
  'approvals:read': { needs: 'viewer', meaning: 'list requests that wait for a second operator' },
  'approvals:decide': { needs: 'operator', meaning: 'approve, reject and withdraw them' },
  'emails:read': { needs: 'viewer', meaning: 'list emails' },
  'emails:act': { needs: 'operator', meaning: 'resend failed emails' },
  'audit:read': { needs: 'viewer', meaning: 'read the audit log' },
  'system:read': { needs: 'viewer', meaning: 'read the state of the gateway' },
} as const satisfies Record<string, { readonly needs: Role; readonly meaning: string }>

export type Scope = keyof typeof scopes
// Safe: these are its own keys.
export const scopeNames = Object.keys(scopes) as readonly Scope[]

export interface ApiToken {
  readonly tokenId: string
  readonly login: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly lastUsedAtMs: number | undefined
  readonly lastUsedFrom: string | undefined
  readonly revokedAtMs: number | undefined
}

export const tokenLimits = { days: 365, defaultDays: 90, perOperator: 20 } as const

const tokenBytes = 32
/** Lets secret scanners recognize leaked tokens. */
const tokenPrefix = 'tillgate_'
const tokenPattern = /^tillgate_[\w-]{43}$/

export function makeTokenText(random: RandomBytes): string {
  return tokenPrefix + Buffer.from(random(tokenBytes)).toString('base64url')
}

export function isTokenText(text: string): boolean {
  return tokenPattern.test(text)
}

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopes, text)
}

/** Throws if a scope does not exist or exceeds the operator's role. */
export function parseScopes(
  given: readonly string[],
  { login, role }: Pick<Operator, 'login' | 'role'>,
): Scope[] {
  const unique = [...new Set(given)]
  if (unique.length === 0)
    throw new Failure('invalid_field', { field: 'scopes', message: 'A token needs at least one scope.' })
  return unique.map((scope) => {
    if (!isScope(scope))
      throw new Failure('invalid_field', {
        field: 'scopes',
        message: `Scope ${scope} does not exist. Use one of: ${scopeNames.join(', ')}.`,
      })
    if (!mayAct(role, scopes[scope].needs))
      throw new Failure('not_allowed', {
        field: 'scopes',
        message: `${scope} needs the role ${scopes[scope].needs}; ${login} is ${role}.`,
      })
    return scope
  })
}

/** Checks a request against its token and the operator's current role. Undefined: every token may. */
export function checkScope(
  scope: Scope | undefined,
  token: Pick<ApiToken, 'scopes'>,
  { login, role }: Pick<Operator, 'login' | 'role'>,
): void {
  if (scope === undefined) return
  if (!token.scopes.includes(scope))
    throw new Failure('not_allowed', {
      message: `This needs a token with the scope ${scope}. This one has: ${token.scopes.join(', ')}.`,
    })
  const { needs } = scopes[scope]
  if (!mayAct(role, needs))
    throw new Failure('not_allowed', { message: `This needs the role ${needs}; ${login} is ${role}.` })
}

export function parseTokenName(text: string): string {
  const name = text.trim().toLowerCase()
  if (/^[a-z0-9][a-z0-9._-]{0,31}$/.test(name)) return name
  throw new Failure('invalid_field', {
    field: 'name',
    message:
      'The name must be 1 to 32 letters, digits, dots, dashes or underscores, such as nightly-payouts.',
  })
}

export function parseTokenDays(days: number): number {
  if (Number.isInteger(days) && days >= 1 && days <= tokenLimits.days) return days
  throw new Failure('invalid_field', {
    field: 'days',
    message: `A token is valid for 1 to ${tokenLimits.days} days.`,
  })
}
