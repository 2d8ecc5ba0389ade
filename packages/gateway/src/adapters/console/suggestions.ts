// What a form field suggests while typing: a datalist for each kind of thing that the fields of a page name.
// Any other value can still be typed, and no script is needed.
import { currencies, toDecimalText } from '@tillgate/protocol'
import type { Suggested } from '../../actions/fields.ts'
import { walletRailId } from '../../core/orders/payments/rules/rail.ts'
import { type Html, html } from '../kit/html.ts'
import type { Visit } from './console.ts'

/** What is chosen, and what the reader knows it by. */
type Suggestion = readonly [value: string, label: string]

/** More are found by the search of their page. */
const maxMerchants = 500
const maxBreaks = 200

export function suggestionsOf(kind: Suggested): Html {
  return html` list="suggested-${kind}"`
}

/** The lists that the fields of this content name. */
export async function suggestionLists(visit: Visit, content: Html): Promise<readonly Html[]> {
  const named = new Set([...content.text.matchAll(/ list="suggested-([a-z]+)"/g)].map(([, kind]) => kind))
  const kinds = suggestedKinds.filter((kind) => named.has(kind))
  return Promise.all(
    kinds.map(async (kind) => {
      const found = await sources[kind](visit)
      return html`<datalist id="suggested-${kind}">${found.map(([value, label]) => html`<option value="${value}">${label}</option>`)}</datalist>`
    }),
  )
}

const sources: Readonly<Record<Suggested, (visit: Visit) => Promise<readonly Suggestion[]>>> = {
  async merchants({ operations, context }) {
    const found = await operations.merchants.listMerchants(context, { limit: maxMerchants })
    return found.map(({ merchantId, name }) => [merchantId, name])
  },
  async banks({ operations, context }) {
    const found = await operations.banks.listBanks(context)
    return found
      .filter(({ bank }) => bank.closedAtMs === undefined)
      .map(({ bank }) => [bank.bankName, bank.holder])
  },
  async rails({ operations, context }) {
    const found = await operations.rails.listRails(context)
    return [[walletRailId, 'Wallets'], ...found.map(({ railId, name }): Suggestion => [railId, name])]
  },
  async accounts({ operations, context }) {
    const [banks, rails] = await Promise.all([
      operations.banks.listBanks(context),
      operations.rails.listRails(context),
    ])
    return [
      ...banks.map(({ bank }): Suggestion => [`bank:${bank.bankName}`, bank.holder]),
      ...rails.map(({ railId, name }): Suggestion => [`rail:${railId}`, name]),
    ]
  },
  async mappings({ operations, context }) {
    const found = await operations.reconciliation.mappings.listMappings(context)
    return found.map(({ mappingName, account }) => [mappingName, account])
  },
  async operators({ operations, context }) {
    const found = await operations.operators.listOperators(context)
    return found.filter(({ status }) => status === 'active').map(({ login, role }) => [login, role])
  },
  async breaks({ operations, context }) {
    const found = await operations.reconciliation.breaks.listBreaks(
      context,
      { status: 'open', kind: 'missing_there' },
      { skip: 0, limit: maxBreaks },
    )
    return found.map(({ breakId, account, currency, sizeMinor, day }) => [
      breakId,
      `${toDecimalText(sizeMinor, currency)} ${currency}, ${day}, ${account}`,
    ])
  },
  async parked({ operations, context }) {
    const found = await operations.reconciliation.breaks.listParked(context, maxBreaks)
    return found.map(({ transferId, leftMinor, currency, party = '' }) => [
      transferId,
      `${toDecimalText(leftMinor, currency)} ${currency} ${party}`,
    ])
  },
  currencies: async () => Object.entries(currencies).map(([code, { name }]) => [code, name]),
}
// Safe: these are its own keys.
const suggestedKinds = Object.keys(sources) as readonly Suggested[]
