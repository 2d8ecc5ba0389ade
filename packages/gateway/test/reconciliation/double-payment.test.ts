// A consumer who pays an order twice by bank transfer, as an operator meets it: the break's page says in one voice that the
// money is booked, and the money page shows the bank account as one line.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import { actingAs } from '../support/acting.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { heldClock } from '../support/money.ts'
import { suspenseIsListed } from '../support/suspense.ts'
import { openTransferBank } from '../support/transfer-bank.ts'

const gateway = await startTestGateway()
const bank = await openTransferBank(gateway.pool, { clock: heldClock(Date.now()) })
const admin = new ConsoleClient(gateway)
await admin.signIn()
afterEach(() => suspenseIsListed(gateway.pool, gateway.operations))
const order = await bank.startedOrder()
await bank.say(creditorReference(order.paymentId), 1_000n)
await suspenseIsListed(gateway.pool, gateway.operations)
await bank.say(creditorReference(order.paymentId), 1_000n)

test('the page of the double payment says that the money is booked, and nothing else', async () => {
  const [found, ...others] = await bank.reconciliation.breaks.listBreaks(
    { status: 'open' },
    { skip: 0, limit: 10 },
  )
  assert(found && others.length === 0)
  assert.equal(found.kind, 'twice')
  const { text } = await admin.get(`/reconciliation/breaks/${found.breakId}`)
  assert.match(text, /transfer, booked</)
  assert.match(text, /The books contain this money and agree with the statement\. No money moves\./)
  assert.doesNotMatch(text, /not booked yet|not in the books|nothing was booked|more than the books/i)
  assert.match(
    text,
    new RegExp(
      `The amount that exceeds <a href="/orders/${order.merchantId}/${order.paymentId}">its order</a> is in suspense`,
    ),
  )
})

test('money by bank transfer is part of the bank account on the money page, and not of the rails', async () => {
  const { text } = await admin.get('/money')
  const usd = (kind: string) => {
    const row = new RegExp(`<strong>${kind}</strong>.*?</tr>`, 's').exec(text)?.[0] ?? ''
    return [...row.matchAll(/class="money">([^<]*)/g)].map(([, amount]) => amount)
  }
  const [main] = (await bank.reconciliation.listStandings()).filter((each) => each.currency === 'USD')
  assert.equal(main?.throughRailsMinor, 2_000n)
  assert(!usd('Rails').some((amount) => amount !== '0.00'), `${usd('Rails')}`)
  assert.equal(usd('Bank accounts').length, 1)
  assert.deepEqual((await gateway.operations.verifyLedger()).findings, [])
})

test('the page of the bank account lists what came by bank transfer', async () => {
  const { text } = await admin.get('/money/banks/main')
  assert.match(text, /with the money that arrived through <a href="\/rails\/transfer">transfer<\/a>/)
  const [, transactions = ''] = text.split('<h2>Transactions</h2>')
  assert.equal(transactions.match(/>transfer received<.*10\.00&nbsp;USD/g)?.length, 2, transactions)
})

test('the money that is too much is listed with its order among the corrections', async () => {
  const { text } = await admin.get('/money/corrections')
  const [, listed = ''] = /<h2>Money of orders in suspense<\/h2>(.*?)<\/table>/s.exec(text) ?? []
  const [number] = (
    await gateway.pool.query<{ order_no: string }>('select order_no from orders where payment_id = $1', [
      order.paymentId,
    ])
  ).rows
  assert.match(listed, /10\.00&nbsp;USD/)
  assert.match(
    listed,
    new RegExp(`href="/orders/${order.merchantId}/${order.paymentId}">${number?.order_no}<`),
  )
  assert.match(listed, /Paid.*Return…/s)
})

test('the refund of an order that was paid by bank transfer says that the operator sends the money', async () => {
  const { text } = await admin.get(`/orders/${order.merchantId}/${order.paymentId}`)
  assert.match(text, /<span class="wrap" title="E1-0 [0-9a-f]{12}">E1-0<\/span>/)
  assert.match(
    text,
    /goes from the merchant’s balance to [^;]*, by a bank transfer that you make and then record/,
  )
})

test('the form that records the return is filled in with the payer and their IBAN, and with what is too much', async () => {
  const { text } = await admin.get(`/orders/${order.merchantId}/${order.paymentId}`)
  const [, form = ''] = /<h2>Record a return<\/h2>(.*?)<\/form>/s.exec(text) ?? []
  assert.match(form, /name="party" value="Ada Example, NL91 ABNA 0417 1643 00"/)
  assert.match(form, /name="amount" value="10\.00"/)
})

test('a refund that an operator must send is listed with the payer until it is recorded', async () => {
  const wish = { paymentId: order.paymentId, referRefundNo: 'to-send', refundAmount: '4.00' }
  const { refundId } = await bank.operations.refundOrder(bank.merchant, JSON.stringify(wish))
  const { text: overview } = await admin.get('/overview')
  assert.match(overview, /<a href="\/money\/corrections">.*?Refunds to send by bank transfer: 1</s)
  const { text } = await admin.get('/money/corrections')
  const [, listed = ''] = /<h2>Refunds to send<\/h2>(.*?)<\/table>/s.exec(text) ?? []
  assert.match(listed, /4\.00&nbsp;USD.*Ada Example, NL91 ABNA 0417 1643 00.*Record…/s)
  assert.match(listed, new RegExp(`href="/orders/${order.merchantId}/${order.paymentId}"`))

  const sent = { outsideReference: 'refund 1', valueDate: '2026-11-19', party: undefined }
  await actingAs(bank.operations, 'test').transfers.settleRefund(
    { merchantId: order.merchantId, refundId },
    { sent, reason: 'sent' },
  )
  assert.doesNotMatch((await admin.get('/overview')).text, /Refunds to send/)
  assert.doesNotMatch((await admin.get('/money/corrections')).text, /Refunds to send/)
})
