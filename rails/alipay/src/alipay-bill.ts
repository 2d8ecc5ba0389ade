// Alipay's daily bill (业务明细): payments and refunds with their fees, as a table in GBK in a ZIP archive. Days are in
// Beijing time.
import { inflateRawSync } from 'node:zlib'
import { toMinorUnits } from '@tillgate/protocol'
import {
  type ProviderLine,
  type ProviderSettlements,
  ProviderUnavailable,
  type SettlementsWanted,
} from '@tillgate/rail-kit/provider'
import { missingColumn, pageOf, Refused, request } from '@tillgate/rail-kit/request'
import { type AlipayAccess, callAlipay } from './alipay-api.ts'

/** Alipay creates the bill by 9:00 in Beijing (1:00 UTC). This adds an hour and a half. */
const madeAfterMs = 26.5 * 3_600_000
const downloadTimeoutMs = 5_000
const maxBillBytes = 64 * 1024 * 1024

/** The cursor is the number of lines before the page. */
export async function readBill(
  access: AlipayAccess,
  { day, cursor = '0' }: SettlementsWanted,
  nowMs: number,
): Promise<ProviderSettlements> {
  if (nowMs < Date.parse(day) + madeAfterMs) return { isPending: true, lines: [] }
  return pageOf(linesIn(await download(access, day, nowMs), day), Number(cursor))
}

/** Empty if the day had no payments. */
async function download(access: AlipayAccess, day: string, nowMs: number): Promise<string> {
  try {
    const { bill_download_url: url } = await callAlipay<{ bill_download_url: string }>(access, {
      method: 'alipay.data.dataservice.bill.downloadurl.query',
      content: { bill_type: 'trade', bill_date: day },
      atMs: nowMs,
    })
    const { ok, status, bytes } = await request('Alipay', url, { redirect: 'follow' }, downloadTimeoutMs)
    if (!ok) throw new ProviderUnavailable(`Alipay returned HTTP ${status} for a bill`)
    const files = filesIn(bytes)
    // The archive also contains the totals of the day.
    return files.find((text) => text.includes(headings.number)) ?? missingColumn(headings.number)
  } catch (error) {
    if (error instanceof Refused && error.code.endsWith('bill_not_exist')) return ''
    if (error instanceof ProviderUnavailable) throw error
    throw new ProviderUnavailable('Alipay’s bill cannot be read', { cause: error })
  }
}

const headings = {
  number: '支付宝交易号',
  ourNumber: '商户订单号',
  type: '业务类型',
  doneAt: '完成时间',
  received: '商家实收（元）',
  fee: '服务费（元）',
  refund: '退款批次号/请求号',
} as const

function linesIn(bill: string, day: string): ProviderLine[] {
  const rows = bill.split(/\r?\n/).filter((row) => row !== '' && !row.startsWith('#'))
  const [head = '', ...entries] = rows
  const columns = head.split(',')
  return entries.map((entry): ProviderLine => {
    const cells = entry.split(',')
    // Only the name of the goods may contain commas, so later columns are counted from the end.
    const cell = (name: keyof typeof headings) => {
      const at = columns.indexOf(headings[name])
      const isBefore = at <= columns.indexOf(headings.type)
      return (
        cells[isBefore ? at : at - columns.length + cells.length]?.trim() ?? missingColumn(headings[name])
      )
    }
    const isRefund = cell('type') === '退款'
    const [received, fee] = [sizeOf(cell('received')), sizeOf(cell('fee'))]
    return {
      lineId: [cell('number'), isRefund ? cell('refund') : ''].filter(Boolean).join(' '),
      day: cell('doneAt').slice(0, 10),
      amountMinor: isRefund ? -received : received,
      feeMinor: isRefund ? -fee : fee,
      currency: 'CNY',
      batch: day,
      of: cell(isRefund ? 'refund' : 'ourNumber'),
    }
  })
}

/** The type determines the direction. */
const sizeOf = (yuan: string) => toMinorUnits(yuan.replace(/^[-+]/, ''), 'CNY', 'amount')

/** The texts of a ZIP archive, according to its directory. */
function filesIn(archive: Buffer): string[] {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  if (end < 0) throw new ProviderUnavailable('the bill is no ZIP archive')
  const texts: string[] = []
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const method = archive.readUInt16LE(at + 10)
    const size = archive.readUInt32LE(at + 20)
    const local = archive.readUInt32LE(at + 42)
    const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const packed = archive.subarray(from, from + size)
    const content = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: maxBillBytes })
    texts.push(new TextDecoder('gb18030').decode(content))
    at += 46 + [28, 30, 32].reduce((sum, field) => sum + archive.readUInt16LE(at + field), 0)
  }
  return texts
}
