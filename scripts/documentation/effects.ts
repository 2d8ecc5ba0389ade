// The tables of SECURITY.md, made from the declarations of effects: every action that can need a second operator, and every
// kind of transfer in the books.
import { catalog } from '../../packages/gateway/src/actions/catalog.ts'
import { effects } from '../../packages/gateway/src/core/authority/rules/effects.ts'
import { bookingEffects } from '../../packages/gateway/src/core/ledger/rules/booking-effects.ts'
import { type Tables, table } from '../../packages/protocol/documentation/tables.ts'

export const effectTables: Tables = {
  'effects of actions': () =>
    table(
      ['Action', 'Effects', 'Word in `APPROVAL_FOR`'],
      catalog
        .filter((action) => action.effects.length > 0)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map((action) => [
          `\`${action.name}\``,
          action.effects.join('; '),
          [...new Set(action.effects.map((effect) => effects[effect]))]
            .map((word) => `\`${word}\``)
            .join(', '),
        ]),
    ),
  'effects of bookings': () =>
    table(
      ['Booking', 'Effects', 'By whose decision'],
      Object.entries(bookingEffects).map(([kind, of]) => [
        `\`${kind}\``,
        of.effects.join('; ') || 'none',
        of.decidedBy,
      ]),
    ),
}
