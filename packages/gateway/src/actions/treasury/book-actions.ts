// Data about the gateway itself for programs: the ledger, the audit log, the system, and the current token.
import assert from 'node:assert/strict'
import { toDecimalText } from '@tillgate/protocol'
import { roles } from '../../core/audit/rules/roles.ts'
import { scopeNames } from '../../identity/operators/rules/api-token.ts'
import { type Action, defineAction } from '../action.ts'
import { amount, count, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { currency, limit, merchantId, nextPage, pageOf, uuid } from '../shared-fields.ts'

const balanceLine = object('One kind of owner in one currency.', {
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
  ]),
  accounts: count('How many.'),
  debitsPosted: amount('Out.'),
  creditsPosted: amount('In.'),
  debitsPending: amount('Held, to go out.'),
  creditsPending: amount('Held, to come in.'),
})

export const bookActions: readonly Action[] = [
  defineAction({
    name: 'ledger.trial-balance',
    command: false,
    scope: 'ledger:read',
    summary: 'What each kind of owner has in each currency',
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
    summary: 'Prove that the books balance; changes nothing',
    answer: object('The proof.', {
      claims: count('How many sentences were proven.'),
      accounts: count('Over so many accounts.'),
      transfers: count('Over so many transfers.'),
      findings: list(
        'What is not true; empty: the ledger is clean.',
        object('A sentence that is not true.', {
          claim: text('What ought to be true.', { max: 1024 }),
          count: count('How many rows contradict it.'),
          examples: list('The first few.', text('A row.', { max: 4096 })),
        }),
      ),
    }),
    run: ({ operations }) => operations.verifyLedger(),
  }),
  defineAction({
    name: 'audit.list',
    command: false,
    scope: 'audit:read',
    summary: 'Who did what, when, to what, from where and why; the newest first',
    input: object('Which acts.', {
      merchantId: optional(merchantId),
      actor: optional(text('Contained in who did it.', { max: 256 })),
      act: optional(text('Contained in what was done.', { max: 64 })),
      subject: optional(text('What it was done to.', { max: 260 })),
      before: optional(uuid('Only what is older than this entry.')),
      limit,
    }),
    answer: object('A page.', {
      acts: list(
        'The newest first.',
        object('An entry.', {
          auditId: uuid('Its number.'),
          actedAtMs: timeMs('When.'),
          actor: text('Who, and from where.', { max: 512 }),
          act: text('What.', { max: 64 }),
          subject: text('To what.', { max: 1024 }),
          merchantId: optional(merchantId),
          reason: optional(text('Why.', { min: 0, max: 65_536 })),
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
    summary: 'Version, database, and how late the oldest work is',
    answer: object('The gateway.', {
      version: text('Of the gateway.', { max: 64 }),
      mode: oneOf('Test money, or real.', ['sandbox', 'live']),
      upMs: count('For how long this process runs.'),
      databaseVersion: text('Of PostgreSQL.', { max: 256 }),
      databaseBytes: count('How large it is.'),
      migrations: count('How many were applied.'),
      settlementsWaiting: count('Payments and refunds that wait for their rail.'),
      oldestSettlementDueAtMs: optional(timeMs('The longest overdue one.')),
      oldestExpiryAtMs: optional(timeMs('The longest overdue order that is still pending.')),
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
    summary: 'The token in use: whose it is, what it may do, until when',
    answer: object('The token.', {
      operator: text('In whose name it acts.', { max: 64 }),
      role: oneOf('What the operator may do.', roles),
      name: text('What it is for.', { max: 32 }),
      scopes: list('What it may do, as far as the role allows it.', oneOf('A scope.', scopeNames)),
      expiresAtMs: timeMs('Until when.'),
    }),
    async run({ operator, token }) {
      assert(operator && token, 'the admin API knows whose token it is')
      return { ...token, operator: operator.login, role: operator.role }
    },
  }),
]
