// How an order was paid, as people know it: the wallet, or the name of a rail.
import type { ListedOrder } from '../../../core/orders/store/order-list.ts'
import type { Visit } from '../portal.ts'
import type { Words } from '../words.ts'

export type RailNames = ReadonlyMap<string, string>

/** By id, as customers know them. */
export async function railNamesOf(
  { operations, language }: Visit,
  orders: readonly { readonly railId: string | undefined }[],
): Promise<RailNames> {
  const railIds = [...new Set(orders.map(({ railId }) => railId))].filter((railId) => railId !== undefined)
  return new Map(
    await Promise.all(
      railIds.map(async (railId) => [railId, await operations.findRailName(railId, language.tag)] as const),
    ),
  )
}

export function methodOf(
  { orders }: Words,
  { isByWallet, railId = '' }: Pick<ListedOrder, 'isByWallet' | 'railId'>,
  railNames: RailNames,
): string | undefined {
  return isByWallet ? orders.wallet : railNames.get(railId)
}
