// Statement files as banks and rails write them, for the planted month, for benchmarks and for hostile variations.
import { toDecimalText } from '@tillgate/protocol'
import type { CsvMapping } from '../../packages/gateway/src/finance/reconciliation/rules/csv.ts'

export interface BankLine {
  readonly reference: string
  readonly day: string
  readonly amountMinor: bigint
  readonly endToEndId?: string
  readonly batchId?: string
  readonly text?: string
  readonly isReturn?: boolean
  /** Of whoever paid, or got it. */
  readonly partyIban?: string
}

export interface BankStatement {
  readonly iban: string
  readonly currency: string
  readonly version: 2 | 4 | 8
  readonly from: string
  readonly through: string
  readonly openingMinor: bigint
  readonly lines: readonly BankLine[]
}

export function camt053({
  iban,
  currency,
  version,
  from,
  through,
  openingMinor,
  lines,
}: BankStatement): string {
  const closing = lines.reduce((sum, { amountMinor }) => sum + amountMinor, openingMinor)
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.0${version}"><BkToCstmrStmt>
<GrpHdr><MsgId>M${from}</MsgId><CreDtTm>${through}T23:00:00Z</CreDtTm></GrpHdr>
<Stmt><Id>S${from}</Id><CreDtTm>${through}T23:00:00Z</CreDtTm><Acct><Id><IBAN>${iban}</IBAN></Id><Ccy>${currency}</Ccy></Acct>
${balance('OPBD', openingMinor, from)}${balance('CLBD', closing, through)}
${lines.map((line) => entry(line)).join('\n')}
</Stmt></BkToCstmrStmt></Document>
`

  function balance(code: string, minor: bigint, day: string): string {
    return `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${amount(minor)}<Dt><Dt>${day}</Dt></Dt></Bal>`
  }

  function amount(minor: bigint): string {
    const written = toDecimalText(minor < 0n ? -minor : minor, currency)
    return `<Amt Ccy="${currency}">${written}</Amt><CdtDbtInd>${minor < 0n ? 'DBIT' : 'CRDT'}</CdtDbtInd>`
  }

  function entry(line: BankLine): string {
    const { reference, day, amountMinor, endToEndId, batchId, text, isReturn, partyIban } = line
    const status = version === 8 ? '<Sts><Cd>BOOK</Cd></Sts>' : '<Sts>BOOK</Sts>'
    const party =
      version === 8 ? '<Dbtr><Pty><Nm>Ada Example</Nm></Pty></Dbtr>' : '<Dbtr><Nm>Ada Example</Nm></Dbtr>'
    const details = [
      batchId === undefined ? '' : `<Btch><PmtInfId>${batchId}</PmtInfId></Btch>`,
      '<TxDtls>',
      endToEndId === undefined ? '' : `<Refs><EndToEndId>${endToEndId}</EndToEndId></Refs>`,
      `<RltdPties>${party}${partyIban === undefined ? '' : accountOf(partyIban, amountMinor)}</RltdPties>`,
      text === undefined ? '' : `<RmtInf><Ustrd>${text}</Ustrd></RmtInf>`,
      isReturn === true ? '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>' : '',
      '</TxDtls>',
    ].join('')
    return `<Ntry>${amount(amountMinor)}${status}<BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt><AcctSvcrRef>${reference}</AcctSvcrRef><BkTxCd/><NtryDtls>${details}</NtryDtls></Ntry>`
  }

  function accountOf(of: string, minor: bigint): string {
    const name = minor < 0n ? 'CdtrAcct' : 'DbtrAcct'
    return `<${name}><Id><IBAN>${of}</IBAN></Id></${name}>`
  }
}

export interface RailLine {
  readonly reference: string
  readonly transactionId: string
  readonly day: string
  readonly amountMinor: bigint
  readonly feeMinor: bigint
  readonly batch: string
}

/** As a rail on the continent writes it. */
export function continentalCsv(lines: readonly RailLine[], currency: string): string {
  const comma = (minor: bigint) => toDecimalText(minor, currency).replace('.', ',')
  const rows = lines.map(({ reference, transactionId, day, amountMinor, feeMinor, batch }) =>
    [
      reference,
      transactionId,
      day.split('-').reverse().join('.'),
      comma(amountMinor),
      comma(feeMinor),
      batch,
    ].join(';'),
  )
  return `Reference;Order;Date;Gross;Fee;Payout\r\n${rows.join('\r\n')}\r\n`
}

export const continentalColumns: CsvMapping = {
  separator: ';',
  decimalSign: ',',
  dayForm: 'DD.MM.YYYY',
  sign: 'as_written',
  day: 'Date',
  amount: 'Gross',
  currency: 'EUR',
  references: ['Reference', 'Order'],
  fee: 'Fee',
  batch: 'Payout',
}

/** As one overseas does: the direction in a column of its own, lines of no interest in between. */
export function overseasCsv(lines: readonly RailLine[], currency: string): string {
  const point = (minor: bigint) => toDecimalText(minor < 0n ? -minor : minor, currency)
  const rows = lines.map(
    ({ reference, transactionId, day, amountMinor, feeMinor, batch }) =>
      `"charge","${reference}",${transactionId},${day},"${point(amountMinor)}",${amountMinor < 0n ? 'debit' : 'credit'},${point(feeMinor)},${batch},${currency}`,
  )
  return `type,id,order,created,amount,direction,fee,payout,currency\n"payout","ignored",,2026-11-01,"1.00",debit,0,,EUR\n${rows.join('\n')}\n`
}

export const overseasColumns: CsvMapping = {
  separator: ',',
  decimalSign: '.',
  dayForm: 'YYYY-MM-DD',
  sign: 'column',
  day: 'created',
  amount: 'amount',
  currency: 'currency',
  references: ['id', 'order'],
  direction: 'direction',
  outWord: 'debit',
  fee: 'fee',
  batch: 'payout',
  skipColumn: 'type',
  skipWords: ['payout'],
}
