// Several breaks of the list at once, with one resolution. Each is decided and recorded on its own, so one that changed
// meanwhile does not keep the others back. What moves money goes through the break's own action, and waits for a second
// operator where that one does.
import { Failure, toDecimalText, uuidPattern } from '@tillgate/protocol'
import {
  type Break,
  decidedBreak,
  mayAccept,
  mayBookAs,
  mayConfirm,
  mayPark,
  mayWriteOff,
} from '../../finance/reconciliation/rules/break.ts'
import { type Action, type ActionCall, defineAction, form } from '../action.ts'
import {
  count,
  displayed,
  list,
  matching,
  object,
  oneOf,
  optional,
  text,
  visibleCharacters,
} from '../fields.ts'
import { runAction } from '../running/run-action.ts'
import { reason } from '../shared-fields.ts'
import { breakActions } from './break-actions.ts'

/** A page of the list. */
const maxSelected = 50

interface Bulk {
  readonly label: string
  /** The action that resolves one break. */
  readonly action: string
  readonly input?: object
  readonly applies: (found: Break) => boolean
}

/** What can resolve many breaks. Pairing and a payment's order differ with each. */
export const bulkResolutions = {
  accept: { label: 'Accept', action: 'reconcile.accept', applies: mayAccept },
  confirm: {
    label: 'Book each line for its order, payout, refund or settlement',
    action: 'reconcile.confirm',
    applies: mayConfirm,
  },
  bank_charge: ownBooking('Book as bank charges', 'bank_charge'),
  interest: ownBooking('Book as interest', 'interest'),
  park: { label: 'Park in suspense', action: 'reconcile.park', applies: mayPark },
  return: { label: 'Return to their senders', action: 'reconcile.return', applies: mayPark },
  write_off: { label: 'Write off', action: 'reconcile.write-off', applies: mayWriteOff },
} as const satisfies Readonly<Record<string, Bulk>>

type BulkName = keyof typeof bulkResolutions
// Safe: these are its own keys.
const bulkNames = Object.keys(bulkResolutions) as readonly BulkName[]

function ownBooking(label: string, as: 'bank_charge' | 'interest') {
  return { label, action: 'reconcile.book-as', input: { as }, applies: mayBookAs }
}

/** Their sum by currency, which the operator confirms. */
export function totalOf(breaks: readonly Pick<Break, 'amountMinor' | 'currency'>[]): string {
  const sums = new Map<string, bigint>()
  for (const { amountMinor, currency } of breaks) sums.set(currency, (sums.get(currency) ?? 0n) + amountMinor)
  return [...sums].map(([currency, minor]) => `${toDecimalText(minor, currency)} ${currency}`).join(', ')
}

export const selectedBreakActions: readonly Action[] = [
  defineAction({
    name: 'reconcile.resolve-selected',
    // Each break's own action asks for the approval.
    effects: [],
    command: false,
    needs: 'operator',
    summary: 'Resolve or assign the selected breaks',
    input: object('Which breaks.', {
      break: list(
        'Break IDs.',
        matching('A break.', { regexp: uuidPattern, expected: 'a break of the list' }),
        { max: maxSelected },
      ),
      what: displayed(oneOf('One resolution for all of them.', ['assign', ...bulkNames]), {
        label: 'Resolution',
        initial: 'accept',
        choices: [
          ...bulkNames.map((name) => [name, bulkResolutions[name].label] as const),
          ['assign', 'Assign to an operator'],
        ],
      }),
      owner: optional(
        displayed(text('An operator’s login.', { max: 320, pattern: visibleCharacters }), {
          label: 'To assign: owner’s login (leave empty to unassign)',
          suggests: 'operators',
        }),
      ),
      total: optional(
        text('The unexplained sum that you expect. If it has changed, nothing is resolved.', { max: 512 }),
      ),
      reason,
    }),
    answer: object('The result.', {
      selected: count('Breaks that were selected.'),
      changed: count('Breaks that were resolved or assigned.'),
      waiting: count('Breaks whose resolution waits for a second operator.'),
    }),
    form: form<readonly Break[]>({
      place: 'breaks.selected',
      path: '/reconciliation/resolve-selected',
      page: '/reconciliation/selected',
      label: 'Resolve…',
      explains: (breaks) =>
        `${breaks.length === 1 ? 'One break' : `${breaks.length} breaks`}, ${totalOf(breaks)} unexplained in total. A break that the resolution does not fit stays open.`,
      button: 'Resolve',
      fields: ['what', 'owner', 'reason'],
      hidden: ['total'],
      formId: 'selected',
      needsConfirmation: true,
    }),
    async run(call) {
      const { operations, context, input } = call
      const { breaks } = operations.reconciliation
      const ids = [...new Set(input.break)]
      const { what } = input
      const result = { selected: ids.length, changed: 0, waiting: 0 }
      const resolve =
        what === 'assign'
          ? async (breakId: string) => {
              await breaks.assign(context, breakId, input.owner, input.reason)
              return 'changed' as const
            }
          : await resolving(call, { what, ids })
      for (const breakId of ids) {
        try {
          result[await resolve(breakId)]++
        } catch (error) {
          if (!(error instanceof Failure)) throw error
        }
      }
      return result
    },
    reply: ({ selected, changed, waiting }) => ({
      text: `${changed} of ${selected} breaks changed.${waiting > 0 ? ` ${waiting} wait for a second operator under Approvals.` : ''}${changed + waiting < selected ? ' The others cannot be resolved this way, or were already resolved. Open each break to resolve it.' : ''}`,
      page: '/reconciliation',
    }),
  }),
]

/** Checks the sum and that money moves for one kind only, before anything is resolved. */
async function resolving(
  call: ActionCall<unknown, { readonly total?: string; readonly reason: string }>,
  { what, ids }: { readonly what: BulkName; readonly ids: readonly string[] },
): Promise<(breakId: string) => Promise<'changed' | 'waiting'>> {
  const { operations, context, input } = call
  const bulk: Bulk = bulkResolutions[what]
  const single = breakActions.find(({ name }) => name === bulk.action)
  if (!single) throw new Error(`there is no action ${bulk.action}`)
  const found = new Map<string, Break>()
  for (const breakId of ids)
    found.set(breakId, (await operations.reconciliation.breaks.showBreak(context, breakId)).found)
  const all = [...found.values()]
  if (what !== 'accept' && new Set(all.map(({ kind }) => kind)).size > 1)
    throw new Failure('status_does_not_allow', {
      message: 'The selected breaks are of several kinds. Select breaks of one kind.',
    })
  if (input.total !== undefined && input.total !== totalOf(all))
    throw new Failure('status_does_not_allow', {
      message: `The selected breaks have changed: their sum is now ${totalOf(all)}. Review them again.`,
    })
  return async (breakId) => {
    const of = found.get(breakId)
    const ran = await runAction(single, {
      ...call,
      actor: context.actor,
      params: { breakId },
      // Accepting moves nothing, so its input pins nothing.
      input: { reason: input.reason, ...bulk.input, ...(what !== 'accept' && of && decidedBreak(of)) },
      idempotencyKey: undefined,
    })
    return ran.kind === 'done' ? 'changed' : 'waiting'
  }
}
