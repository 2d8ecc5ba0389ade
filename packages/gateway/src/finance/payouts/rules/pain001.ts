// Formats a run as ISO 20022 pain.001.001.09. A pure function of stored data, so a run's file never changes. In
// pieces (head, payouts, tail), because a run may have a hundred thousand payouts.
import { toDecimalText } from '@tillgate/protocol'
import { utcDay } from '../../../platform/runtime/utc.ts'
import type { BankDetails } from '../../treasury/rules/operator-bank-account.ts'
import { toBankText } from './bank-text.ts'
import type { Payout, PayoutRun } from './payout.ts'
import { isSepaIban } from './sepa.ts'

export interface FileTotals {
  readonly payouts: number
  readonly sumMinor: bigint
}

const maxLengths = { name: 70, accountNumber: 34, bank: 140 } as const
/** The control sum allows no more digits and may be omitted. */
const maxSumDigits = 18

export type SentRun = PayoutRun & { readonly debtor: BankDetails; readonly sentAtMs: number }

export function painHead(run: SentRun, totals: FileTotals): string {
  const { debtor, currency } = run
  const id = messageId(run)
  const name = element('Nm', toBankText(debtor.holder, maxLengths.name))
  const counted = `${element('NbOfTxs', totals.payouts.toString())}${controlSum(totals, currency)}`
  const sentAt = `${new Date(run.sentAtMs).toISOString().slice(0, 19)}Z`
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
<GrpHdr>${element('MsgId', id)}${element('CreDtTm', sentAt)}${counted}<InitgPty>${name}</InitgPty></GrpHdr>
<PmtInf>${element('PmtInfId', id)}<PmtMtd>TRF</PmtMtd>${counted}<ReqdExctnDt>${element('Dt', utcDay(run.sentAtMs))}</ReqdExctnDt>
<Dbtr>${name}</Dbtr><DbtrAcct>${accountId(debtor)}${element('Ccy', currency)}</DbtrAcct><DbtrAgt>${agent(debtor) ?? unknownAgent}</DbtrAgt>
`
}

export function painPayout({ payoutId, account, amountMinor, currency }: Payout): string {
  const isSepa = currency === 'EUR' && account.iban !== undefined && isSepaIban(account.iban)
  const creditorAgent = agent(account)
  return [
    `<CdtTrfTxInf><PmtId>${element('EndToEndId', payoutId)}</PmtId>`,
    isSepa ? '<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>' : '',
    `<Amt><InstdAmt Ccy="${escapeXml(currency)}">${toDecimalText(amountMinor, currency)}</InstdAmt></Amt>`,
    element('ChrgBr', isSepa ? 'SLEV' : 'SHAR'),
    creditorAgent === undefined ? '' : `<CdtrAgt>${creditorAgent}</CdtrAgt>`,
    `<Cdtr>${element('Nm', toBankText(account.holder, maxLengths.name))}</Cdtr>`,
    `<CdtrAcct>${accountId(account)}</CdtrAcct>`,
    `<RmtInf>${element('Ustrd', `Payout ${payoutId}`)}</RmtInf></CdtTrfTxInf>\n`,
  ].join('')
}

export const painTail = '</PmtInf></CstmrCdtTrfInitn></Document>\n'

/** At most 35 characters; the run's id without dashes has 32. */
function messageId({ runId }: Pick<PayoutRun, 'runId'>): string {
  return runId.replaceAll('-', '')
}

function controlSum({ sumMinor }: FileTotals, currency: string): string {
  const isSayable = sumMinor.toString().length <= maxSumDigits
  return isSayable ? element('CtrlSum', toDecimalText(sumMinor, currency)) : ''
}

/** Without an IBAN, the first line is the account number and the rest is the bank. */
function accountId({ iban, lines: [number = ''] = [] }: BankDetails): string {
  if (iban !== undefined) return `<Id>${element('IBAN', iban)}</Id>`
  return `<Id><Othr>${element('Id', toBankText(number, maxLengths.accountNumber))}</Othr></Id>`
}

const unknownAgent = '<FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId>'

function agent({ bic, lines = [] }: BankDetails): string | undefined {
  const bank = lines.slice(1).join(', ')
  if (bic === undefined && bank === '') return undefined
  const named = bank === '' ? '' : element('Nm', toBankText(bank, maxLengths.bank))
  return `<FinInstnId>${bic === undefined ? '' : element('BICFI', bic)}${named}</FinInstnId>`
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
