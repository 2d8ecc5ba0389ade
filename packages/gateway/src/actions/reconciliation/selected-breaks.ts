// Several breaks of the list at once: accepted, or assigned. Each is decided and recorded on its own, so one that changed
// meanwhile does not keep the others back.
import { Failure, uuidPattern } from '@tillgate/protocol'
import { type Action, defineAction } from '../action.ts'
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
import { reason } from '../shared-fields.ts'

/** A page of the list. */
const maxSelected = 50

export const selectedBreakActions: readonly Action[] = [
  defineAction({
    name: 'reconcile.resolve-selected',
    effects: [],
    command: false,
    needs: 'operator',
    summary: 'Accept or assign the selected breaks',
    input: object('Which breaks.', {
      break: list(
        'Break IDs.',
        matching('A break.', { regexp: uuidPattern, expected: 'a break of the list' }),
        { max: maxSelected },
      ),
      what: displayed(
        oneOf('`accept` resolves breaks with nothing unexplained.', ['accept', 'assign'] as const),
        {
          label: 'Action',
          initial: 'accept',
          choices: [
            ['accept', 'Accept breaks with nothing unexplained'],
            ['assign', 'Assign to an operator'],
          ],
        },
      ),
      owner: optional(
        displayed(text('An operator’s login.', { max: 320, pattern: visibleCharacters }), {
          label: 'Owner, by login (leave empty to unassign)',
          suggests: 'operators',
        }),
      ),
      reason,
    }),
    answer: object('The result.', {
      selected: count('Breaks that were selected.'),
      changed: count('Breaks that were accepted or assigned.'),
    }),
    form: {
      place: 'breaks.selected',
      page: '/reconciliation',
      formId: 'selected',
      label: 'Resolve selected…',
      explains:
        'The action applies to every break selected above. A break that cannot be accepted stays open. No money moves.',
      button: 'Resolve selected',
      fields: ['what', 'owner', 'reason'],
    },
    async run({ operations, context, input }) {
      const { breaks } = operations.reconciliation
      let changed = 0
      for (const breakId of new Set(input.break)) {
        try {
          if (input.what === 'accept') await breaks.accept(context, breakId, input.reason)
          else await breaks.assign(context, breakId, input.owner, input.reason)
          changed++
        } catch (error) {
          if (!(error instanceof Failure)) throw error
        }
      }
      return { selected: new Set(input.break).size, changed }
    },
    reply: ({ selected, changed }) => ({
      text: `${changed} of ${selected} breaks changed.${changed < selected ? ' The others have an unexplained amount, or were already resolved. Open each break to resolve it.' : ''}`,
    }),
  }),
]
