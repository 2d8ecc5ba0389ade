// Adyen's settlement details report: one file per payout. Only a webhook has its name.
import { toMinorUnits } from '@tillgate/protocol'
import {
  type ProviderLine,
  type ProviderSettlements,
  ProviderUnavailable,
  type SettlementsWanted,
} from '@tillgate/rail-kit/provider'
import { missingColumn, pageOf, request } from '@tillgate/rail-kit/request'

export interface ReportAccess {
  /** A report user, who signs in with a password. */
  readonly user: string
  readonly password: string
  readonly merchantAccount: string
  /** For example, https://ca-test.adyen.com. */
  readonly url: string
}

export const reportName = /^settlement_detail_report_batch_\d+\.csv$/
/** Lines about a refund or a dispute, whose number is their modification reference. */
const modifications = new Set(['Refunded', 'Chargeback', 'ChargebackReversed', 'SecondChargeback'])
const timeoutMs = 8_000

/** The cursor is the report's name and the number of lines before the page. */
export async function readReports(
  access: ReportAccess,
  { cursor = '', reports }: SettlementsWanted,
): Promise<ProviderSettlements> {
  const [name = reports[0], from = '0'] = cursor === '' ? [] : cursor.split(' ')
  if (name === undefined) return { lines: [] }
  const { lines, next } = pageOf(linesIn(await download(access, name)), Number(from))
  const following = reports[reports.indexOf(name) + 1]
  return { lines, next: next === undefined ? following : `${name} ${next}` }
}

async function download(
  { user, password, merchantAccount, url }: ReportAccess,
  name: string,
): Promise<string> {
  const path = `/reports/download/MerchantAccount/${encodeURIComponent(merchantAccount)}/${name}`
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const address = new URL(path, url)
  const { ok, status, bytes } = await request('Adyen', address, { headers: { authorization } }, timeoutMs)
  if (!ok) throw new ProviderUnavailable(`Adyen returned HTTP ${status} for ${name}`)
  return bytes.toString()
}

function linesIn(report: string): ProviderLine[] {
  const [head = '', ...rows] = report.replace(/^\uFEFF/, '').split(/\r?\n/)
  const headings = cellsOf(head)
  return rows.flatMap((row, index): ProviderLine[] => {
    if (row === '') return []
    const cells = cellsOf(row)
    const cell = (heading: string) => cells[headings.indexOf(heading)] ?? missingColumn(heading)
    const [type, currency, netCurrency] = [cell('Type'), cell('Gross Currency'), cell('Net Currency')]
    if (type === 'MerchantPayout') return []
    const [payment, modification] = [cell('Psp Reference'), cell('Modification Reference')]
    const batch = `${cell('Merchant Account')} batch ${cell('Batch Number')}`
    const net = minorOf(cell('Net Credit (NC)'), netCurrency) - minorOf(cell('Net Debit (NC)'), netCurrency)
    // An amount that Adyen converted has no original amount, so an operator must decide.
    const isConverted = currency !== '' && currency !== netCurrency
    const gross = isConverted
      ? net
      : minorOf(cell('Gross Credit (GC)'), netCurrency) - minorOf(cell('Gross Debit (GC)'), netCurrency)
    const of = type === 'Settled' ? payment : modifications.has(type) ? modification : ''
    return [
      {
        lineId: [payment || `${batch} ${index}`, type, modification].filter(Boolean).join(' '),
        day: cell('Creation Date').slice(0, 10),
        amountMinor: gross,
        feeMinor: gross - net,
        currency: netCurrency,
        batch,
        of: of === '' || isConverted ? undefined : of,
      },
    ]
  })
}

/** Cells with commas are quoted. */
function cellsOf(row: string): string[] {
  return [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  )
}

/** Adyen writes some currencies with additional decimals, which are zero. */
function minorOf(written: string, currency: string): bigint {
  const shorter = written.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
  return shorter === '' ? 0n : toMinorUnits(shorter, currency, 'amount')
}
