// A rail with hostile names and answers, and consumers with hostile names who pay.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { actingAs } from '../acting.ts'
import { until } from '../callbacks.ts'
import { Visitor } from '../checkout.ts'
import { TestBank } from '../rails.ts'
import { testPin, WalletClient } from '../wallet.ts'
import type { SpecialOrders } from './orders.ts'
import { hitFunction, hostileHost } from './texts.ts'
import type { Field } from './world.ts'

const logo = `<svg xmlns="http://www.w3.org/2000/svg" onload="${hitFunction}('logo')"><script>${hitFunction}('logo')</script><image href="//${hostileHost}/logo"/></svg>`

export async function plantPayments(field: Field, special: SpecialOrders) {
  const bank = await plantRail(field)
  const consumer = await plantWallets(field, special)
  // What the gateway remembers of rails is older than this one at first.
  await until(async () => (await (await fetch(special.open.url)).text()).includes('/rails/bank/'))
  await answerOddly(field, { bank, special })
  return consumer
}

async function plantRail({ gateway, texts, api }: Field): Promise<TestBank> {
  const bank = await new TestBank(gateway.clock).open()
  after(() => bank.close())
  const { secret } = await api.data('rail.add', {
    body: {
      railId: 'bank',
      name: texts.text('rail name', { max: 64 }),
      names: [`de=${texts.text('rail name in a language', { max: 60 })}`],
      url: texts.url('rail url', bank.url),
      currencies: ['USD'],
      logo,
      reason: texts.text('reason'),
    },
  })
  bank.secrets.push(secret)
  return bank
}

async function answerOddly(
  { gateway, texts, merchant }: Field,
  { bank, special }: { bank: TestBank; special: SpecialOrders },
): Promise<void> {
  const takesHidden = true
  const line = {
    label: texts.text('instruction label', { max: 40, takesHidden }),
    value: texts.text('instruction value', { max: 100, takesHidden }),
  }
  const caption = texts.text('caption', { max: 100, takesHidden })
  const url = texts.url('rail redirect', 'https://bank.example/pay')
  const pending = (nextAction: object) => ({ status: 'pending', nextAction })
  const answers = {
    instructions: pending({ kind: 'instructions', lines: [line] }),
    code: pending({ kind: 'qr', text: texts.text('code'), caption }),
    redirected: pending({ kind: 'redirect', url }),
    declined: { status: 'declined', reason: texts.text('declined reason', { takesHidden }) },
    approved: { status: 'approved', reference: texts.text('rail reference', { max: 128, takesHidden }) },
    failed: { status: 'submitted' },
    failing: pending({ kind: 'redirect', url: `javascript:${hitFunction}('redirect')` }),
  } as const
  const failed = { status: 'declined', reason: texts.text('failed reason', { takesHidden }) }
  for (const [name, answer] of Object.entries(answers)) {
    bank.first = answer
    const { paymentId } = special[name as keyof typeof answers]
    const { code, msg, data } = await merchant.call('service.sandbox.pay', { paymentId, rail: 'bank' })
    if (name !== 'failing') assert.equal(code, 20000, `${name}: ${msg}`)
    if (name !== 'failed') continue
    const { transactionId } = data
    bank.payments.set(transactionId, failed)
    const { body, headers } = bank.notification({ type: 'payment.changed', transactionId })
    await fetch(`${gateway.url}/rails/bank/notifications`, { method: 'POST', headers, body })
    await untilStatus(merchant, paymentId, 'failed')
  }
}

async function plantWallets({ gateway, texts, api, merchant }: Field, { byWallet }: SpecialOrders) {
  const { wallets } = actingAs(gateway.operations, 'test')
  const add = async (login: string) =>
    (
      await wallets.addWallet({
        login,
        name: texts.text('wallet name', { max: 100 }),
        pin: testPin,
        reason: texts.text('reason'),
      })
    ).wallet.walletId
  const login = 'mira@wallet.example'
  const walletId = await add(login)
  for (let number = 0; number < 5; number++) await add(`wallet-${number}@wallet.example`)
  const reference = texts.text('outside reference', { max: 140 })
  await api.data('wallet.top-up', {
    params: { walletId },
    body: { amount: '100.00', currency: 'USD', reason: texts.text('reason'), reference },
    headers: { 'idempotency-key': 'top-up' },
  })
  const visitor = new Visitor(byWallet)
  await visitor.look()
  await visitor.post('sign-in', { login, pin: testPin })
  await visitor.look()
  await visitor.post('pay')
  await untilStatus(merchant, byWallet.paymentId, 'success')
  const client = new WalletClient(gateway)
  assert.equal((await client.signIn(login)).status, 303)
  return { client, login, walletId }
}

function untilStatus(merchant: Field['merchant'], paymentId: string, wanted: string): Promise<void> {
  return until(async () => {
    const { data } = await merchant.call('service.trade.query', { paymentId })
    return data.paymentStatus === wanted
  })
}
