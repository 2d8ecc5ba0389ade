// Payment links over the signed methods and over their pages, without scripts: what can be paid, by whom and how often.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { openCheckoutShop, Visitor } from '../support/checkout.ts'

const shop = await openCheckoutShop()
const { gateway, merchant, clock } = shop
const other = await gateway.addMerchant({ name: 'Other' })
let numbers = 0

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
async function create(given: object = {}): Promise<any> {
  const body = {
    linkNo: `link-${++numbers}`,
    title: 'A pot of tea',
    currency: 'USD',
    amount: '12.50',
    ...given,
  }
  const { code, msg, data } = await merchant.call('service.link.create', body)
  assert.equal(code, 20000, msg)
  return data
}
const query = async (linkId: string) => (await merchant.call('service.link.query', { linkId })).data

const pathOf = ({ linkUrl }: { linkUrl: string }) => gateway.url + new URL(linkUrl).pathname

/** Opens the page and presses its button; answers where that leads. */
async function press(link: { linkUrl: string }, fields: Record<string, string> = {}) {
  // Numbers of the same millisecond are in no order.
  clock.advance(1)
  const page = await (await fetch(pathOf(link))).text()
  const number = /name="number" value="([0-9a-f]{20})"/.exec(page)?.[1] ?? ''
  return send(link, { number, ...fields })
}

function send(
  link: { linkUrl: string },
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return fetch(pathOf(link), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(fields),
  })
}

const leadsTo = (answered: Response) => {
  assert.equal(answered.status, 303)
  return answered.headers.get('location') ?? ''
}
const paymentIdOf = (path: string) => path.split('/')[3] ?? ''

async function payAt(path: string): Promise<string> {
  const order = { url: gateway.url + path, paymentId: paymentIdOf(path) }
  const visitor = new Visitor(order)
  await visitor.look()
  await visitor.post('pay-with-test-wallet', { wallet: 'approves' })
  await shop.waitFor(order, 'success')
  return order.paymentId
}

test('a link is a page, and pressing its button is an order like any other', async () => {
  const link = await create({
    goods: [{ referenceGoodsId: 'pot', goodsName: 'Pot <b>', goodsAmount: '12.50' }],
  })
  assert.match(link.linkUrl, /\/l\/L[0-9A-Z]{26}$/)
  assert.deepEqual([link.status, link.uses, link.paidCount, link.paidAmount], ['active', 'many', 0, 0])
  const page = await (await fetch(pathOf(link))).text()
  assert.match(page, /Tea House/)
  assert.match(page, /A pot of tea/)
  assert.match(page, /Pot &lt;b&gt;/)
  assert.deepEqual((await query(link.linkId)).orders, [], 'opening makes nothing')
  const path = leadsTo(await press(link))
  const paymentId = await payAt(path)
  const shown = await query(link.linkId)
  assert.deepEqual([shown.paidCount, shown.paidAmount, shown.status], [1, 12.5, 'active'])
  assert.equal(shown.orders[0].paymentId, paymentId)
  const { data } = await merchant.call('service.trade.query', { paymentId })
  assert.equal(data.paymentStatus, 'success')
  assert(data.orderNo.startsWith(`${link.linkId}-`), data.orderNo)
  const refund = { paymentId, referRefundNo: `r-${paymentId}`, refundAmount: 2 }
  assert.equal((await merchant.call('service.trade.refund', refund)).code, 20000)
})

test('the same form sent twice is one order, another form is another', async () => {
  const link = await create()
  const number = '0123456789abcdef0123'
  const [first, second] = [leadsTo(await send(link, { number })), leadsTo(await send(link, { number }))]
  assert.equal(first, second)
  assert.notEqual(leadsTo(await press(link)), first)
  assert.equal((await query(link.linkId)).orders.length, 2)
})

test('a link for one payment is paid once, however many press at once', async () => {
  const link = await create({ uses: 'once' })
  const paths = await Promise.all(Array.from({ length: 64 }, async () => leadsTo(await press(link))))
  assert.equal(new Set(paths).size, 1, 'all are led to the same order')
  const [path = ''] = paths
  const visitors = Array.from({ length: 64 }, () => new Visitor({ url: gateway.url + path, paymentId: '' }))
  await Promise.all(visitors.map((visitor) => visitor.look()))
  await Promise.all(visitors.map((visitor) => visitor.post('pay-with-test-wallet', { wallet: 'approves' })))
  await shop.waitFor({ url: '', paymentId: paymentIdOf(path) }, 'success')
  const shown = await query(link.linkId)
  assert.deepEqual(
    [shown.status, shown.paidCount, shown.paidAmount, shown.orders.length],
    ['paid', 1, 12.5, 1],
  )
  assert.match(await (await fetch(pathOf(link))).text(), /already been paid/)
  assert.equal(leadsTo(await send(link, { number: '0123456789abcdef0123' })), new URL(pathOf(link)).pathname)
  assert.equal((await query(link.linkId)).orders.length, 1)
  const { findings } = await gateway.stores.verifyLedger()
  assert.deepEqual(findings, [])
})

test('after an order that ended unpaid, a link for one payment makes another, and one alone', async () => {
  const link = await create({ uses: 'once' })
  const first = leadsTo(await press(link))
  await shop.cancel({ url: '', paymentId: paymentIdOf(first) })
  const again = await Promise.all(Array.from({ length: 16 }, async () => leadsTo(await press(link))))
  assert.equal(new Set(again).size, 1)
  assert.notEqual(again[0], first)
  assert.equal((await query(link.linkId)).orders.length, 2)
})

test('the database itself refuses a second live order of a link for one payment', async () => {
  const link = await create({ uses: 'once' })
  await press(link)
  const copy = gateway.pool.query(
    `insert into orders (merchant_id, payment_id, order_no, status, channel, payment_amount_minor, currency, payment_time,
                         expires_at, content, created_at, link_id, link_uses)
     select merchant_id, 'P2' || substr(payment_id, 3), order_no || 'x', 'pending', channel, payment_amount_minor, currency,
            payment_time, expires_at, content, created_at, link_id, link_uses
       from orders where link_id = $1`,
    [link.linkId],
  )
  await assert.rejects(copy, /orders_link_once/)
})

test('an order that another of its link stands against is not made, and those beside it are', async () => {
  const path = leadsTo(await press(await create({ uses: 'once' })))
  const { orders } = gateway.stores
  const key = { merchantId: merchant.merchantId, paymentId: paymentIdOf(path) }
  const standing = await orders.findOrder(key)
  assert(standing)
  const copyOf = (letter: string) => ({
    ...standing,
    paymentId: `P2${letter}${standing.paymentId.slice(3)}`,
    orderNo: `${standing.orderNo}-${letter}`,
  })
  const another = { ...copyOf('A'), link: undefined }
  const [beside, refused] = await Promise.all([orders.insertOrder(another), orders.insertOrder(copyOf('B'))])
  assert.equal(beside?.paymentId, another.paymentId)
  assert.equal(refused, undefined)
})

test('people who press at once for other amounts at a link for one payment are all led on, to one live order', async () => {
  const link = await create({ amount: undefined, uses: 'once' })
  await press(link, { amount: '5' })
  const pressed = await Promise.all(['6', '7', '8', '9'].map((amount) => press(link, { amount })))
  for (const each of pressed) leadsTo(each)
  const { orders } = await query(link.linkId)
  const live = orders.filter(({ status }: { status: string }) => status === 'pending')
  assert.equal(live.length, 1)
})

test('many people at once each get an order of their own at a link for many', async () => {
  const link = await create()
  const paths = await Promise.all(Array.from({ length: 64 }, async () => leadsTo(await press(link))))
  assert.equal(new Set(paths).size, 64)
})

test('an open amount is what the consumer types, within its bounds', async () => {
  const link = await create({ amount: undefined, leastAmount: 5, mostAmount: '500' })
  const refused = async (amount: string, says: RegExp) => {
    const answered = await press(link, { amount })
    assert.equal(answered.status, 422)
    const page = await answered.text()
    assert.match(page, says)
    assert.match(page, new RegExp(`aria-invalid="true"[^>]* value="${amount}"`))
  }
  await refused('4,99', /minimum amount is.*\$5\.00/)
  await refused('500.01', /maximum amount is.*\$500\.00/)
  await refused('tea', /such as/)
  const path = leadsTo(await press(link, { amount: '7,50' }))
  assert.equal((await query(link.linkId)).orders[0].paymentAmount, 7.5)
  await payAt(path)
  assert.deepEqual((await query(link.linkId)).paidAmount, 7.5)
})

test('another amount at the same form, or at a link for one payment, is another order', async () => {
  const many = await create({ amount: undefined })
  const number = 'abcdefabcdefabcdef01'
  const five = leadsTo(await send(many, { number, amount: '5' }))
  assert.notEqual(leadsTo(await send(many, { number, amount: '7' })), five)
  const once = await create({ amount: undefined, uses: 'once' })
  const first = leadsTo(await press(once, { amount: '5' }))
  const second = leadsTo(await press(once, { amount: '7' }))
  assert.notEqual(first, second)
  const { orders } = await query(once.linkId)
  assert.deepEqual(
    orders.map(({ status, paymentAmount }: { status: string; paymentAmount: number }) => [
      status,
      paymentAmount,
    ]),
    [
      ['pending', 7],
      ['cancelled', 5],
    ],
  )
})

test('a paused, closed, ended or suspended link makes no order and says why', async () => {
  const { links } = actingAs(gateway.operations, 'test')
  const link = await create({ linkExpiryTime: clock.now() + 3_600_000 })
  const key = { merchantId: merchant.merchantId, linkId: link.linkId }
  const says = async (pattern: RegExp) => {
    assert.match(await (await fetch(pathOf(link))).text(), pattern)
    assert.equal(leadsTo(await send(link, { number: '0123456789abcdef0123' })), `/l/${link.linkId}`)
    assert.deepEqual((await query(link.linkId)).orders, [])
  }
  await links.changeLink('pause', key, 'test')
  await says(/payment link is paused/)
  await links.changeLink('resume', key, 'test')
  clock.advance(3_600_000)
  await says(/has expired/)
  const { code, data } = await merchant.call('service.link.close', { linkId: link.linkId })
  assert.deepEqual([code, data.status], [20000, 'closed'])
  await says(/is closed/)
  assert.equal((await merchant.call('service.link.close', { linkId: link.linkId })).code, 20000, 'again')
  await assert.rejects(links.changeLink('resume', key, 'test'), /is closed/)
})

test('a link that is closed or expires while somebody waits for their turn makes no order', async () => {
  const { openLink } = gateway.operations
  const beginning = { amountMinor: 1_250n, formNumber: '0123456789abcdef0124' }
  for (const end of ['closed', 'expired']) {
    const link = await create({ linkExpiryTime: clock.now() + 3_600_000 })
    const opened = await openLink.find(link.linkId)
    assert(opened)
    if (end === 'closed') await merchant.call('service.link.close', { linkId: link.linkId })
    else clock.advance(3_600_000)
    assert.equal((await openLink.begin(opened, beginning)).kind, 'not_payable', end)
    assert.deepEqual((await query(link.linkId)).orders, [])
  }
})

test('the same linkNo is the same link, and with other content it is refused at its field', async () => {
  const body = { linkNo: 'again', title: 'Tea', currency: 'USD', amount: 5 }
  const first = await merchant.call('service.link.create', body)
  const second = await merchant.call('service.link.create', { ...body, amount: '5.00' })
  assert.equal(second.data.linkId, first.data.linkId)
  const third = await merchant.call('service.link.create', { ...body, title: 'Coffee' })
  assert.deepEqual([third.code, third.data.field], [40900, 'title'])
  assert.equal(
    (await merchant.call('service.link.query', { linkNo: 'again' })).data.linkId,
    first.data.linkId,
  )
})

test('a link that has expired is answered again for the same content, and refused for other', async () => {
  const body = { linkNo: 'ended', title: 'Tea', currency: 'USD', amount: 5, linkExpiryTime: clock.now() + 1 }
  const call = (given: object) => merchant.call('service.link.create', { ...body, ...given })
  const first = await call({})
  assert.equal(first.data.status, 'active')
  clock.advance(1)
  const again = await call({})
  assert.deepEqual([again.code, again.data], [20000, { ...first.data, status: 'expired' }])
  for (const [given, field] of [
    [{ title: 'Coffee' }, 'title'],
    [{ linkExpiryTime: body.linkExpiryTime - 1 }, 'linkExpiryTime'],
  ] as const) {
    const { code, data } = await call(given)
    assert.deepEqual([code, data.field], [40900, field])
  }
  const unknown = await call({ linkNo: 'ended and new' })
  assert.deepEqual([unknown.code, unknown.data.field], [40004, 'linkExpiryTime'])
})

test('a link is answered again after its address was taken off the list of callback hosts', async () => {
  const { merchants } = actingAs(gateway.operations, 'test')
  const listed = await gateway.addMerchant({ callbackHosts: ['shop.example'] })
  const body = {
    linkNo: 'moved',
    title: 'Tea',
    currency: 'USD',
    amount: 5,
    callbackUrl: 'http://shop.example',
  }
  const first = await listed.call('service.link.create', body)
  await merchants.changeMerchant(listed.merchantId, { callbackHosts: ['new.example'] }, { reason: 'moved' })
  // The gateway remembers a merchant for a while.
  clock.advance(60_000)
  const again = await listed.call('service.link.create', body)
  assert.deepEqual([again.code, again.data.linkId], [20000, first.data.linkId])
  const unknown = await listed.call('service.link.create', { ...body, linkNo: 'moved and new' })
  assert.deepEqual([unknown.code, unknown.data.field], [40005, 'callbackUrl'])
})

test('a link that is wrong in itself is refused at its field', async () => {
  const right = { linkNo: 'wrong', title: 'Tea', currency: 'USD', amount: 5 }
  for (const [given, code, field] of [
    [{ amount: 0 }, 40001, 'amount'],
    [{ leastAmount: 1 }, 40001, 'leastAmount'],
    [{ amount: undefined, leastAmount: 5, mostAmount: 4 }, 40001, 'mostAmount'],
    [{ amount: 1.234 }, 40002, 'amount'],
    [{ goods: [{ referenceGoodsId: 'g', goodsName: 'Tea', goodsAmount: 4 }] }, 40003, 'amount'],
    [
      { amount: undefined, goods: [{ referenceGoodsId: 'g', goodsName: 'T', goodsAmount: 4 }] },
      40001,
      'goods[0].goodsAmount',
    ],
    [{ linkExpiryTime: clock.now() }, 40004, 'linkExpiryTime'],
    [{ callbackUrl: 'ftp://shop.example' }, 40005, 'callbackUrl'],
    [{ redirectUrl: 'javascript:alert(1)' }, 40005, 'redirectUrl'],
    [{ title: ' ' }, 40001, 'title'],
    [{ paymentMinutes: 4 }, 40001, 'paymentMinutes'],
  ] as const) {
    const { code: answered, data, msg } = await merchant.call('service.link.create', { ...right, ...given })
    assert.deepEqual([answered, data.field], [code, field], msg)
  }
})

test('another merchant finds nothing, and a wrong address leads nowhere', async () => {
  const { linkId } = await create()
  for (const method of ['service.link.query', 'service.link.close'])
    assert.equal((await other.call(method, { linkId })).code, 40400)
  for (const path of ['/l', '/l/x', '/l/L01K73ZQ800JZ7V3N4Q5R6S7T8W', `/l/${linkId}/x`])
    assert.equal((await fetch(gateway.url + path)).status, 404, path)
})

test('a form from elsewhere, or without its number, makes nothing', async () => {
  const link = await create()
  const number = '0123456789abcdef0123'
  assert.equal(leadsTo(await send(link, { number }, { 'sec-fetch-site': 'cross-site' })), `/l/${link.linkId}`)
  assert.equal(leadsTo(await send(link, { number: 'x' })), `/l/${link.linkId}`)
  assert.deepEqual((await query(link.linkId)).orders, [])
})

test('where the merchant took the next number for an order of its own, the link passes it by', async () => {
  const link = await create({ uses: 'once' })
  await shop.order((body) => {
    body.order.orderNo = `${link.linkId}-1`
  })
  const path = leadsTo(await press(link))
  assert.equal((await query(link.linkId)).orders[0].paymentId, paymentIdOf(path))
})

test('the code is an image of the address, as SVG and as PNG', async () => {
  const link = await create()
  const svg = await fetch(`${pathOf(link)}/qr.svg`)
  assert.equal(svg.headers.get('content-type'), 'image/svg+xml')
  const emv = await fetch(`${pathOf(link)}/emv.svg`)
  assert.deepEqual([emv.status, emv.headers.get('content-type')], [200, 'image/svg+xml'])
  const png = await fetch(`${pathOf(link)}/qr.png`)
  assert.equal(png.headers.get('content-type'), 'image/png')
  assert.equal(
    Buffer.from(await png.arrayBuffer())
      .subarray(1, 4)
      .toString(),
    'PNG',
  )
})

/** As `send`, from another address of this machine. */
function sendFrom(localAddress: string, link: { linkUrl: string }, fields: Record<string, string>) {
  const body = new URLSearchParams(fields).toString()
  return new Promise<{ status: number; retryAfter: number; location: string; text: string }>(
    (resolve, reject) => {
      const sent = request(
        pathOf(link),
        {
          method: 'POST',
          localAddress,
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            'sec-fetch-site': 'same-origin',
            'accept-language': 'de',
          },
        },
        async (response) => {
          const { statusCode: status = 0, headers } = response
          const { location = '' } = headers
          resolve({
            status,
            location,
            retryAfter: Number(headers['retry-after']),
            text: await text(response),
          })
        },
      )
      sent.on('error', reject)
      sent.end(body)
    },
  )
}

const newNumber = () => randomBytes(10).toString('hex')

test('an address with a hundred unpaid orders at a link makes no more there, until it pays or an hour has passed', async () => {
  const [link, otherLink] = [await create(), await create()]
  const [abuser, visitor] = ['127.0.5.1', '127.0.5.2']
  const pressFrom = async (address: string, at: typeof link, number = newNumber()) => {
    clock.advance(250)
    return sendFrom(address, at, { number })
  }
  const first = newNumber()
  const paths = [(await pressFrom(abuser, link, first)).location]
  while (paths.length < 100) paths.push((await pressFrom(abuser, link)).location)
  assert.equal(new Set(paths).size, 100)

  const refused = await pressFrom(abuser, link)
  assert.equal(refused.status, 429)
  assert(refused.retryAfter > 3_500 && refused.retryAfter <= 3_600, String(refused.retryAfter))
  assert.match(refused.text, /Zu viele nicht abgeschlossene Zahlungen.*Tea House.*60 Minuten/s)

  assert.equal((await pressFrom(abuser, link, first)).location, paths[0], 'a form sent again leads on')
  assert.equal((await pressFrom(visitor, link)).status, 303)
  assert.equal((await pressFrom(abuser, otherLink)).status, 303)

  const [, second = ''] = paths
  await payAt(second)
  assert.equal((await pressFrom(abuser, link)).status, 429, 'what was paid is looked for every ten seconds')
  clock.advance(10_000)
  assert.equal((await pressFrom(abuser, link)).status, 303)
  assert.equal((await pressFrom(abuser, link)).status, 429)
  clock.advance(3_600_000)
  assert.equal((await pressFrom(abuser, link)).status, 303)
})

test('one address that presses without end is slowed down', async () => {
  const link = await create()
  const number = '00000000000000000000'
  const statuses: number[] = []
  for (let tries = 0; tries < 400 && !statuses.includes(429); tries++)
    statuses.push((await send(link, { number })).status)
  assert(statuses.includes(429))
})
