// Medusa has amounts in units of the currency, as numbers of any precision; the gateway takes no more digits than the
// currency has.
import type { BigNumberInput } from '@medusajs/framework/types'
import { MathBN } from '@medusajs/framework/utils'
import { toDecimalText } from '@tillgate/sdk'

export function toAmount(amount: BigNumberInput, currency: string): string {
  const [, decimals = ''] = toDecimalText(0n, currency).split('.')
  return MathBN.convert(amount).toFixed(decimals.length)
}
