// WeChat Pay's daily bill (交易账单): payments and refunds with their fees, which WeChat Pay settles in one sum on the next
// day. Days are in Beijing time.
import { createHash } from 'node:crypto'
import { toMinorUnits } from '@tillgate/protocol'
import { type ProviderLine, type ProviderSettlements, ProviderUnavailable } from '@tillgate/rail-kit/provider'
import { asUnavailable, missingColumn, pageOf, Refused } from '@tillgate/rail-kit/request'
import { callWechatpay, downloadFrom, type WechatpayAccess } from './wechatpay-api.ts'

interface BillAnswer {
  readonly hash_type: 'SHA1'
  readonly hash_value: string
  readonly download_url: string
}

/** WeChat Pay creates the bill at 10:00 in Beijing (2:00 UTC). This adds half an hour. */
const madeAfterMs = 26.5 * 3_600_000

/** The cursor is the number of lines before the page. */
export async function readBill(
  access: WechatpayAccess,
  { day, cursor = '0' }: { readonly day: string; readonly cursor: string | undefined },
): Promise<ProviderSettlements> {
  if (access.now() < Date.parse(day) + madeAfterMs) return { isPending: true, lines: [] }
  const bill = await download(access, day)
  if (bill === 'is being made') return { isPending: true, lines: [] }
  return pageOf(linesIn(bill, day), Number(cursor))
}

/** Empty if the day had no payments. */
async function download(access: WechatpayAccess, day: string): Promise<string> {
  const path = `/v3/bill/tradebill?bill_date=${day}&bill_type=ALL`
  try {
    const { download_url: url, hash_value: hash } = await callWechatpay<BillAnswer>(access, {
      method: 'GET',
      path,
    })
    const bill = await downloadFrom(access, url)
    // The file is not signed, but the response with its hash is.
    if (createHash('sha1').update(bill).digest('hex') !== hash.toLowerCase())
      throw new ProviderUnavailable('the bill is not the one that WeChat Pay announced')
    return bill.toString()
  } catch (error) {
    if (error instanceof Refused && error.code === 'NO_STATEMENT_EXIST') return ''
    if (error instanceof Refused && error.code === 'STATEMENT_CREATING') return 'is being made'
    throw asUnavailable(error)
  }
}

function linesIn(bill: string, day: string): ProviderLine[] {
  const [head = '', ...rows] = bill.replace(/^\uFEFF/, '').split(/\r?\n/)
  const headings = head.split(',')
  const totals = rows.findIndex((row) => row.startsWith('总交易单数'))
  return rows.slice(0, totals === -1 ? undefined : totals).flatMap((row): ProviderLine[] => {
    if (!row.startsWith('`')) return []
    const cells = row.slice(1).split(',`')
    const cell = (heading: string) => cells[headings.indexOf(heading)] ?? missingColumn(heading)
    const isRefund = cell('交易状态') === 'REFUND'
    if (isRefund && cell('退款状态') === 'FAIL') return []
    return [
      {
        lineId: cell(isRefund ? '微信退款单号' : '微信订单号'),
        day: cell('交易时间').slice(0, 10),
        amountMinor: isRefund ? -fenOf(cell('退款金额')) : fenOf(cell('应结订单金额')),
        feeMinor: fenOf(cell('手续费')),
        currency: cell('货币种类'),
        batch: day,
        of: cell(isRefund ? '商户退款单号' : '商户订单号'),
      },
    ]
  })
}

/** Fees have five decimals. Rounds them to two. */
function fenOf(yuan: string): bigint {
  const [, minus, whole = '0', decimals = ''] = /^(-)?(\d+)(?:\.(\d*))?$/.exec(yuan) ?? missingColumn(yuan)
  const cents = toMinorUnits(`${whole}.${decimals.slice(0, 2).padEnd(2, '0')}`, 'CNY', 'amount')
  const rounded = Number(decimals[2] ?? 0) >= 5 ? cents + 1n : cents
  return minus ? -rounded : rounded
}
