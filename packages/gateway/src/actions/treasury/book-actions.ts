// Data about the gateway itself for programs: the ledger, the audit log, the system, and the current token.
import assert from 'node:assert/strict'
import { toDecimalText } from '@tillgate/protocol'
import { roles } from '../../core/authority/rules/roles.ts'
import { scopeNames } from '../../identity/operators/rules/api-token.ts'
import { type Action, defineAction } from '../action.ts'
import { amount, count, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { currency, limit, merchantId, nextPage, pageOf, uuid } from '../shared-fields.ts'

const balanceLine = object('One type of owner in one currency.', {
  currency,
  ownerKind: oneOf('Whose accounts.', [
    'wallet',
    'merchant',
    'bank',
    'rail',
    'suspense',
    'fees',
    'write_off',
    'rail_fees',
    'equity',
    'bank_charges',
    'interest',
    'disputes',
    'owed',
  ]),
  accounts: count('Number of accounts.'),
  debitsPosted: amount('Total debits.'),
  creditsPosted: amount('Total credits.'),
  debitsPending: amount('Held for outgoing money.'),
  creditsPending: amount('Held for incoming money.'),
})

export const bookActions: readonly Action[] = [
  defineAction({
    name: 'ledger.trial-balance',
    command: false,
    scope: 'ledger:read',
    summary: 'Show the balance of each type of owner in each currency',
    answer: object('The books.', { lines: list('By currency.', balanceLine) }),
    run: async ({ operations, context }) => ({
      lines: (await operations.trialBalance(context)).map((line) => ({
        ...line,
        debitsPosted: toDecimalText(line.debitsPostedMinor, line.currency),
        creditsPosted: toDecimalText(line.creditsPostedMinor, line.currency),
        debitsPending: toDecimalText(line.debitsPendingMinor, line.currency),
        creditsPending: toDecimalText(line.creditsPendingMinor, line.currency),
      })),
    }),
  }),
  defineAction({
    name: 'ledger.verify',
    command: false,
    effects: [],
    scope: 'ledger:verify',
    summary: 'Verify that the books balance. Changes nothing',
    answer: object('The result.', {
      claims: count('Number of verified rules.'),
      accounts: count('Number of accounts.'),
      transfers: count('Number of transfers.'),
      findings: list(
        'Violations; empty if the ledger is correct.',
        object('A violated rule.', {
          claim: text('The rule.', { max: 1024 }),
          count: count('Number of rows that violate it.'),
          examples: list('Some of these rows.', text('A row.', { max: 4096 })),
        }),
      ),
    }),
    run: ({ operations }) => operations.verifyLedger(),
  }),
  defineAction({
    name: 'audit.list',
    command: false,
    scope: 'audit:read',
    summary: 'List audit entries, newest first',
    input: object('The filter.', {
      merchantId: optional(merchantId),
      actor: optional(text('Only entries whose actor contains this text.', { max: 256 })),
      act: optional(text('Only entries whose action contains this text.', { max: 64 })),
      subject: optional(text('Only entries about the object with this ID.', { max: 260 })),
      reason: optional(text('Only entries whose reason contains this text.', { max: 256 })),
      sinceMs: optional(timeMs('Done at this time or later.')),
      untilMs: optional(timeMs('Done before this time.')),
      before: optional(uuid('Only entries older than this one.')),
      limit,
    }),
    answer: object('A page.', {
      acts: list(
        'Newest first.',
        object('An entry.', {
          auditId: uuid('The entry’s ID.'),
          actedAtMs: timeMs('The time.'),
          actor: text('The actor and their address.', { max: 512 }),
          act: text('The action.', { max: 64 }),
          subject: text('The subject.', { max: 1024 }),
          merchantId: optional(merchantId),
          reason: optional(text('The reason.', { min: 0, max: 65_536 })),
        }),
      ),
      older: optional(uuid(nextPage)),
    }),
    run: ({ operations, context, input: { before, limit: atMost, ...filter } }) =>
      pageOf(
        'acts',
        { before, limit: atMost },
        {
          read: async (at) =>
            (await operations.listAuditEntries(context, filter, at)).map(({ action: act, ...entry }) => ({
              ...entry,
              act,
            })),
          keyOf: ({ auditId }) => auditId,
        },
      ),
  }),
  defineAction({
    name: 'system.show',
    command: false,
    scope: 'system:read',
    summary: 'Show version, database, and the oldest overdue jobs',
    answer: object('The gateway.', {
      version: text('The gateway’s version.', { max: 64 }),
      mode: oneOf('Test money or real money.', ['sandbox', 'live']),
      upMs: count('Uptime of this process.'),
      databaseVersion: text('Of PostgreSQL.', { max: 256 }),
      databaseBytes: count('Size of the database.'),
      migrations: count('Number of applied migrations.'),
      authorizationsWaiting: count('Payments and refunds that wait for a result.'),
      oldestAuthorizationDueAtMs: optional(timeMs('Due time of the most overdue payment or refund.')),
      oldestExpiryAtMs: optional(timeMs('Expiry time of the most overdue pending order.')),
    }),
    async run({ operations, context, nowMs }) {
      const { about, state } = await operations.system(context, nowMs)
      return { ...about, ...state }
    },
  }),
  defineAction({
    name: 'token.show',
    command: false,
    apiPath: '/token',
    summary: 'Show the current token: its operator, scopes and expiry',
    answer: object('The token.', {
      operator: text('The operator that the token acts for.', { max: 64 }),
      role: oneOf('The operator’s role.', roles),
      name: text('Its purpose.', { max: 32 }),
      scopes: list('The scopes that the operator’s role allows.', oneOf('A scope.', scopeNames)),
      expiresAtMs: timeMs('Time of expiry.'),
    }),
    async run({ operator, token }) {
      assert(operator && token, 'the admin API knows the current token')
      return { ...token, operator: operator.login, role: operator.role }
    },
  }),
]
