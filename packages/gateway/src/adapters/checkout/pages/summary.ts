// The collapsed details: goods, additions and deductions, the total, and the recipient. Amounts in the stored order are
// minor units as text.
import { amountOfGoods } from '@tillgate/protocol'
import { type Content, type Html, html } from '../../kit/html.ts'
import type { Formats } from '../../kit/languages/formats.ts'
import { fill } from '../../kit/languages/words.ts'
import type { View } from './view.ts'

/** As core/orders/rules/order.ts writes it. */
export interface Summary {
  readonly orderNo: string
  readonly orderAmountMinor: string
  readonly tipsMinor?: string
  readonly discountMinor?: string
  readonly totalTaxMinor?: string
  readonly insuranceMinor?: string
  readonly handlingFeeMinor?: string
  readonly shipping?: {
    readonly shipType: 'SHIPPING' | 'PICKUP_IN_STORE' | 'PICKUP_FROM_PERSON'
    readonly amountMinor?: string
    readonly name: string
    readonly address?: string
  }
  readonly shippingDiscountMinor?: string
  readonly orderDescription?: string
  readonly goods: readonly SummaryGoods[]
}

interface SummaryGoods {
  readonly goodsName: string
  readonly goodsDesc?: string
  readonly goodsAmountMinor?: string
  readonly taxMinor?: string
  readonly goodsQuantity: number
}

export function readSummary(content: string): Summary {
  // Safe: the gateway wrote it from a validated body.
  return JSON.parse(content) as Summary
}

export function summary({ order, language }: View, content: Summary): Html {
  const { details } = language.words
  const { formats } = language
  const money = (minor: string): Html => formats.money(BigInt(minor), order.currency)
  return html`<details class="summary">
<summary><span>${details.heading}</span><span class="quiet">${briefly(content.goods, language)}</span></summary>
<ul class="goods">${content.goods.map((good) => goods(good, { details, formats, money }))}</ul>
<dl class="rows">
${row(details.subtotal, content.orderAmountMinor, money)}
${row(details.tips, content.tipsMinor, money)}
${row(details.tax, content.totalTaxMinor, money)}
${row(details.shipping, content.shipping?.amountMinor, money)}
${row(details.shippingDiscount, negative(content.shippingDiscountMinor), money)}
${row(details.discount, negative(content.discountMinor), money)}
${row(details.insurance, content.insuranceMinor, money)}
${row(details.handling, content.handlingFeeMinor, money)}
<div class="sum"><dt>${details.total}</dt><dd>${formats.money(order.paymentAmountMinor, order.currency)}</dd></div>
</dl>
<dl class="rows quiet">
${content.shipping && content.shipping.name !== '' && receiver(content.shipping, details)}
<div><dt>${details.number}</dt><dd><bdi>${content.orderNo}</bdi></dd></div>
</dl>
</details>`
}

/** One thing by its name, several by their number. */
function briefly(all: Summary['goods'], { words, formats }: View['language']): Content {
  const [first] = all
  if (first && all.length === 1 && first.goodsQuantity === 1) return html`<bdi>${first.goodsName}</bdi>`
  // Half a kilogram counts as one item.
  const count = all.reduce((sum, { goodsQuantity: q }) => sum + (Number.isInteger(q) ? q : 1), 0)
  return formats.plural(words.details.items, count)
}

type DetailWords = View['language']['words']['details']

function goods(
  good: SummaryGoods,
  { details, formats, money }: { details: DetailWords; formats: Formats; money: (minor: string) => Html },
): Html {
  const { goodsName, goodsDesc, goodsAmountMinor, goodsQuantity, taxMinor } = good
  const quantity = formats.number(goodsQuantity)
  const each =
    goodsAmountMinor === undefined
      ? goodsQuantity !== 1 && html`× ${quantity}`
      : goodsQuantity !== 1 && fill(details.each, { quantity, amount: money(goodsAmountMinor) })
  const tax = taxMinor !== undefined && taxMinor !== '0' && fill(details.taxEach, { amount: money(taxMinor) })
  return html`<li><div><bdi>${goodsName}</bdi>${goodsAmountMinor !== undefined && html` <span>${money(amountOfGoods(BigInt(goodsAmountMinor), goodsQuantity).toString())}</span>`}</div>
${goodsDesc !== undefined && html`<p class="quiet small"><bdi class="lines">${goodsDesc}</bdi></p>`}
${(each || tax) && html`<p class="quiet small">${each}${each && tax && ' · '}${tax}</p>`}</li>`
}

function row(name: string, minor: string | undefined, money: (minor: string) => Html): Content {
  return minor !== undefined && minor !== '0' && html`<div><dt>${name}</dt><dd>${money(minor)}</dd></div>`
}

function negative(minor: string | undefined): string | undefined {
  return minor === undefined || minor === '0' ? undefined : `-${minor}`
}

function receiver({ shipType, name, address }: NonNullable<Summary['shipping']>, details: DetailWords): Html {
  return html`<div><dt>${details[shipType]}</dt><dd><bdi>${name}</bdi>${address !== undefined && html`<br><bdi class="lines">${address}</bdi>`}</dd></div>`
}
