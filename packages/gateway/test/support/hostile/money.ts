// Money of the operator and of the merchant, and statements of the bank, with hostile text wherever people and banks write.
import { randomBytes } from 'node:crypto'
import { camt053 } from '../../../../../reliability/reconciliation/statement-files.ts'
import { testIban } from '../payouts.ts'
import type { Field } from './world.ts'

const currency = 'USD'
const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
const once = () => ({ 'idempotency-key': randomBytes(8).toString('hex') })

/** Things for the parameters of routes. */
export async function plantMoney(field: Field): Promise<Record<string, string>> {
  await plantAccounts(field)
  const payout = await plantPayouts(field)
  const found = await plantStatement(field)
  await plantMapping(field)
  return { ...payout, ...found, bankName: 'main' }
}

async function plantAccounts({ texts, api, merchant: { merchantId } }: Field): Promise<void> {
  const params = { merchantId }
  const reason = () => texts.text('reason')
  const holder = () => texts.text('account holder', { max: 70 })
  const lines = [texts.text('account lines', { max: 34 }), texts.text('account lines', { max: 70 })]
  const main = { holder: holder(), iban: testIban, reason: reason() }
  await api.data('bank.change', { params: { bankName: 'main' }, body: main })
  const second = { bankName: 'second', currency, holder: holder(), lines, reason: reason() }
  await api.data('bank.add', { body: second })
  const own = { currency, holder: holder(), iban: testIban, reason: reason() }
  await api.data('merchant.bank-account', { params, body: own })
  const abroad = { currency: 'JPY', holder: holder(), lines, reason: reason() }
  await api.data('merchant.bank-account', { params, body: abroad })
  const price = { merchantId, currency, fixed: '0.10', basisPoints: 10, reason: reason() }
  await api.data('price.set', { body: price })
}

async function plantPayouts({ texts, api, merchant: { merchantId } }: Field) {
  const params = { merchantId }
  const reason = () => texts.text('reason')
  const reference = () => texts.text('outside reference', { max: 140 })
  const funds = { amount: '50.00', currency, reason: reason(), reference: reference() }
  await api.data('correction.fund', { params, body: funds, headers: once() })
  const payOut = async () => {
    const body = { amount: '5.00', currency, reason: reason() }
    const { payoutId } = await api.data('merchant.payout', { params, body, headers: once() })
    const { runId } = await api.data('payout.show', { params: { ...params, payoutId } })
    await api.data('payout-run.send', { params: { runId }, body: { reason: reason() } })
    return { payoutId, runId }
  }
  const payout = await payOut()
  const back = { reference: reference(), valueDate: day, reason: texts.text('payout returned', { max: 140 }) }
  await api.data('payout.return', { params: { ...params, payoutId: payout.payoutId }, body: back })
  // Its file is for the bank; the one that came back is in none any more.
  const { runId } = await payOut()
  return { ...payout, runId }
}

async function plantStatement({ texts, api }: Field) {
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const lines = Array.from({ length: 6 }, (_, number) => ({
    reference: escaped(texts.text('bank reference', { max: 70 })),
    day,
    amountMinor: 500n + BigInt(number),
    text: escaped(texts.text('remittance text', { max: 140 })),
  }))
  const file = camt053({
    iban: testIban,
    currency,
    version: 8,
    from: day,
    through: day,
    openingMinor: 0n,
    lines,
  }).replaceAll('Ada Example', () => escaped(texts.text('payer', { max: 70 })))
  const query = { account: 'bank:main', reason: texts.text('reason') }
  const { importId } = await api.data('reconcile.import', { file, query })
  const { breaks } = await api.data('reconcile.list')
  const breakId = String(breaks[0]?.breakId)
  const note = texts.text('break note')
  await api.data('reconcile.note', { params: { breakId }, body: { note } })
  return { importId, breakId }
}

async function plantMapping({ texts, api }: Field): Promise<void> {
  const column = () => texts.text('column', { max: 60 })
  await api.data('reconcile.mapping', {
    body: {
      mappingName: 'hostile',
      account: 'bank:main',
      separator: ',',
      decimalSign: '.',
      dayForm: 'YYYY-MM-DD',
      sign: 'as_written',
      day: column(),
      amount: column(),
      currency: 'EUR',
      references: [column()],
      reason: texts.text('reason'),
    },
  })
}

/** What moved today did so yesterday, because a day is billed when it is over. */
export async function billYesterday({ gateway, merchant: { merchantId } }: Field): Promise<string> {
  await gateway.pool.query(
    "update transfers set made_at = made_at - 86400000 where merchant_id = $1 and phase in ('post', 'direct')",
    [merchantId],
  )
  await gateway.pool.query("update bill_turns set next_day = '1970-01-01'")
  await gateway.operations.makeBills()
  const { rows } = await gateway.pool.query<{ day: string }>(
    'select max(day)::text as day from bills where merchant_id = $1',
    [merchantId],
  )
  return rows[0]?.day ?? ''
}
