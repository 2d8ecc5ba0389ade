// The cart, which lives in a cookie: nothing to store until somebody buys.
import { goods } from './goods.ts'

export type CartLine = { readonly goods: (typeof goods)[number]; readonly quantity: number }

/** From `cart=sencha.2~cup.1`, with one good more or less; whatever else stands there is not in the cart. */
export function readCart(cookies = '', change?: { goodsId: string | null; by: number }): CartLine[] {
  const [, text = ''] = /(?:^|; )cart=([a-z0-9.~]*)/.exec(cookies) ?? []
  const quantities = new Map(text.split('~').map((part) => part.split('.') as [string, string]))
  return goods.flatMap((each) => {
    const before = Math.trunc(Number(quantities.get(each.id))) || 0
    const quantity = Math.min(9, before + (change?.goodsId === each.id ? change.by : 0))
    return quantity > 0 ? { goods: each, quantity } : []
  })
}

export function cartCookie(cart: readonly CartLine[]): string {
  const text = cart.map(({ goods: { id }, quantity }) => `${id}.${quantity}`).join('~')
  return `cart=${text}; Path=/; HttpOnly; SameSite=Lax`
}

export const totalMinor = (cart: readonly CartLine[]): bigint =>
  cart.reduce((sum, { goods: { priceMinor }, quantity }) => sum + priceMinor * BigInt(quantity), 0n)
