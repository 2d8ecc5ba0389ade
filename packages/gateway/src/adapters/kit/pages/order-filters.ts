// What the lists of orders in console and portal are filtered by, beside status and day: currency, amount, payment method
// and attach. A filter lives in the address, so what is not a filter is none.
import { type OrderFilter, otherMethods } from '../../../core/orders/store/order-list.ts'

export const maxAttachSought = 64
export { otherMethods }

/** Of a number with as many decimals as the currency with the most has. */
const amountPattern = /^(\d{1,15})(?:[.,](\d{1,4}))?$/
const railPattern = /^[a-z0-9-]{1,32}$/

type Filtered = Pick<OrderFilter, 'currency' | 'least' | 'most' | 'method' | 'attach'>

export function readOrderFilters(query: URLSearchParams): Filtered {
  const method = query.get('method') ?? ''
  return {
    currency: query.get('currency')?.trim().toUpperCase() || undefined,
    least: amountOf(query.get('least')),
    most: amountOf(query.get('most')),
    method: railPattern.test(method) ? method : undefined,
    attach: query.get('attach')?.trim().slice(0, maxAttachSought) || undefined,
  }
}

/** In ten-thousandths of the main unit, so that one number fits every currency. */
function amountOf(written: string | null): bigint | undefined {
  const [, whole, fraction = ''] = amountPattern.exec(written?.trim() ?? '') ?? []
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(4, '0'))
}
