// The sample orders of the demo merchant: a week of a small tea shop, the oldest first.

export interface SampleOrder {
  readonly goods: readonly SampleGoods[]
  readonly customer: { readonly name: string; readonly address: string }
  readonly attach: string | undefined
  readonly agoMs: number
  readonly end: SampleEnd
  /** Only of a refunded order. */
  readonly refund: { readonly amountMinor: bigint; readonly reason: string } | undefined
  /** Instead of the demo shop's, so that there is a callback to look into. */
  readonly failingCallbackUrl: string | undefined
}

export interface SampleGoods {
  readonly id: string
  readonly name: string
  readonly amountMinor: bigint
  readonly quantity: number
}

/** `expired` follows from the order's age; `open` waits for its customer. */
type SampleEnd = 'paid' | 'failed' | 'expired' | 'cancelled' | 'refunded' | 'open'

/** The articles of the demo shop. */
const catalog = {
  sencha: { id: 'sencha', name: 'Sencha', amountMinor: 1250n },
  teapot: { id: 'teapot', name: 'Teapot', amountMinor: 4800n },
  cup: { id: 'cup', name: 'Cup', amountMinor: 950n },
  honey: { id: 'honey', name: 'Honey', amountMinor: 780n },
} as const

const customers = [
  { name: 'Emma Fischer', address: 'Lindenstraße 12\n10969 Berlin' },
  { name: 'Lucas Martin', address: '8 rue des Lilas\n75019 Paris' },
  { name: 'Sofía García', address: 'Calle Mayor 41\n28013 Madrid' },
  { name: 'Noah Janssen', address: 'Keizersgracht 220\n1016 DX Amsterdam' },
  { name: 'Giulia Rossi', address: 'Via Garibaldi 7\n20121 Milano' },
  { name: 'Aino Virtanen', address: 'Bulevardi 3\n00120 Helsinki' },
  { name: 'Liam Murphy', address: '19 Camden Row\nDublin 8' },
  { name: 'Marta Nowak', address: 'ul. Długa 5\n31-147 Kraków' },
] as const

type Basket = Partial<Record<keyof typeof catalog, number>>

/** Hours ago, the basket, and the end where it is not a payment. */
const week: readonly (readonly [hoursAgo: number, basket: Basket, end?: SampleEnd])[] = [
  [155, { sencha: 1 }],
  [151, { teapot: 1, cup: 2 }],
  [148, { honey: 2 }],
  [143, { sencha: 2, honey: 1 }, 'expired'],
  [131, { cup: 4 }],
  [127, { teapot: 1 }],
  [125, { sencha: 3 }, 'refunded'],
  [121, { honey: 1, sencha: 1 }],
  [108, { teapot: 1, sencha: 1 }],
  [104, { cup: 2 }, 'failed'],
  [103, { cup: 2 }],
  [101, { sencha: 1, cup: 1 }],
  [97, { honey: 3 }],
  [84, { sencha: 2 }],
  [80, { teapot: 1, cup: 4 }],
  [77, { sencha: 1 }, 'cancelled'],
  [74, { honey: 1 }],
  [60, { cup: 6 }],
  [56, { teapot: 1, sencha: 2 }, 'refunded'],
  [55, { sencha: 1, honey: 1 }],
  [52, { cup: 1 }, 'expired'],
  [50, { sencha: 4 }],
  [36, { honey: 2, cup: 2 }],
  [33, { teapot: 1 }],
  [31, { sencha: 2 }],
  [29, { teapot: 2 }, 'failed'],
  [28, { teapot: 2 }],
  [26, { honey: 1 }],
  [14, { sencha: 1, cup: 2 }],
  [11, { teapot: 1, honey: 1 }],
  [8, { sencha: 2, honey: 2 }, 'refunded'],
  [6, { cup: 2 }],
  [5, { sencha: 1 }],
  [3, { teapot: 1, cup: 4, sencha: 2 }],
  [2, { honey: 4 }],
  [1, { sencha: 1, cup: 1 }],
  [0.4, { sencha: 1 }],
  [0.1, { cup: 2, honey: 1 }, 'open'],
]

/** The second last: its callback goes to a host that does not exist. */
const failing = week.length - 2
const hourMs = 60 * 60_000

export const sampleOrders: readonly SampleOrder[] = week.map(([hoursAgo, basket, end = 'paid'], index) => {
  const goods = goodsOf(basket)
  return {
    goods,
    customer: customers[(index * 5) % customers.length] ?? customers[0],
    attach: index % 3 === 0 ? 'newsletter' : undefined,
    agoMs: Math.round(hoursAgo * hourMs),
    end,
    refund: end === 'refunded' ? refundOf(goods) : undefined,
    failingCallbackUrl: index === failing ? 'https://shop.example/callbacks' : undefined,
  }
})

export function sampleOrderNo(index: number): string {
  return `LC-${1042 + index}`
}

export const demoLink = {
  linkNo: 'tea-tasting',
  title: 'Tea tasting on Saturday',
  currency: 'EUR',
  amount: 18,
}

function goodsOf(basket: Basket): SampleGoods[] {
  // Safe: these are its own keys.
  return (Object.keys(basket) as (keyof Basket)[]).map((id) => ({
    ...catalog[id],
    quantity: basket[id] ?? 0,
  }))
}

/** A basket of one kind is refunded in full, others lose their first goods. */
function refundOf(goods: readonly SampleGoods[]): SampleOrder['refund'] {
  const [first] = goods
  if (!first) return undefined
  return {
    amountMinor: first.amountMinor * BigInt(first.quantity),
    reason: goods.length === 1 ? 'Returned by the customer' : `${first.name} arrived damaged`,
  }
}
