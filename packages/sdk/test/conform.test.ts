// The conformance suite: it passes against gateways that are right, and finds each planted deviation by its clause.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { decryptBytes, parsePrivateKey } from '@tillgate/protocol'
import { until } from '../../gateway/test/support/callbacks.ts'
import { startTestGateway, type TestGateway } from '../../gateway/test/support/gateway.ts'
import { createBody } from '../../gateway/test/support/order.ts'
import { runTill } from '../src/cli/till.ts'
import { type Clause, clauseNumbers, clauses } from '../src/conform/clauses.ts'
import type { Result } from '../src/conform/suite.ts'
import { credentials as fakeCredentials, keys, parsed } from './support/credentials.ts'
import { type Planted, startFakeGateway } from './support/fake-gateway.ts'

interface Conformed {
  readonly exitCode: number
  readonly results: readonly Result[]
  readonly written: Readonly<Record<string, string>>
  readonly out: string
  readonly told: string
}

async function conform(credentials: object, ...args: string[]): Promise<Conformed> {
  let out = ''
  let told = ''
  const written: Record<string, string> = {}
  const exitCode = await runTill(['conform', '--listen', '127.0.0.1:0', ...args], {
    out: (text) => (out += text),
    error: (text) => (told += text),
    isTerminal: false,
    environment: { TILLGATE_CREDENTIALS: 'merchant.json' },
    readFile: () => Buffer.from(JSON.stringify(credentials)),
    fileExists: () => true,
    writeFile: (path, text) => {
      written[path] = text
    },
    now: Date.now,
    randomBytes,
    client: {},
  })
  return { exitCode, results: args.includes('--json') ? JSON.parse(out).results : [], written, out, told }
}

const failed = ({ results }: Conformed) =>
  results
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ clause, title, detail }) => `${clause} ${title}: ${detail}`)

async function conformFake(planted: Planted, ...args: string[]): Promise<Conformed> {
  const gateway = await startFakeGateway(planted)
  try {
    return await conform({ ...fakeCredentials, gatewayUrl: gateway.url }, ...args)
  } finally {
    await gateway.close()
  }
}

test('without a gateway, one sentence says so instead of a failure of every clause', async () => {
  const { exitCode, out } = await conform({ ...fakeCredentials, gatewayUrl: 'http://127.0.0.1:9' })
  assert.deepEqual([exitCode, out], [69, ''])
})

test('an unknown clause is answered with the clauses in the order of the interface', () => {
  assert.equal(clauseNumbers.join(' ').startsWith('2.1 2.2 2.3'), true)
  assert(clauseNumbers.indexOf('2.10') > clauseNumbers.indexOf('2.9'))
  assert.deepEqual(clauseNumbers.slice(-2), ['8', '9'])
})

async function merchantAt(gateway: TestGateway) {
  const merchant = await gateway.addMerchant()
  const published = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
    keys: { publicKey: string }[]
  }
  const credentials = {
    gatewayUrl: gateway.url,
    merchantId: merchant.merchantId,
    aesKey: merchant.aesKey.export().toString('base64'),
    privateKey: merchant.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    platformPublicKey: published.keys.map(({ publicKey }) => publicKey),
  }
  return { ...merchant, credentials }
}

test('our gateway conforms, in every clause', async () => {
  const { credentials } = await merchantAt(await startTestGateway())
  const conformed = await conform(credentials, '--json')
  assert.deepEqual(failed(conformed), [])
  assert.equal(conformed.exitCode, 0)
  assert.deepEqual(new Set(conformed.results.map(({ clause }) => clause)), new Set(Object.keys(clauses)))
  const untestable = conformed.results.filter(({ outcome }) => outcome === 'not testable')
  assert.ok(untestable.length <= 6, JSON.stringify(untestable))
})

test('the suite uses one callback host, and a merchant whose hosts are used up is told so at once', async () => {
  const { credentials, call } = await merchantAt(await startTestGateway())
  for (let host = 1; host < 20; host++) {
    const body = { ...createBody({ now: Date.now() }), callbackUrl: `http://shop-${host}.example/` }
    assert.equal((await call('service.trade.create', body)).code, 20000)
  }
  const last = ['--listen', '127.0.0.1:18484', '--clause', '8']
  assert.deepEqual(failed(await conform(credentials, ...last, '--json')), [])
  const { exitCode, told } = await conform(credentials, '--listen', '127.0.0.1:18485', '--clause', '8')
  assert.equal(exitCode, 2)
  assert.match(
    told,
    /does not accept callbacks at http:\/\/127\.0\.0\.1:18485: .*\nUse --listen or --callback-url/,
  )
})

test('a gateway that paused the address of an earlier run conforms once its pause is over', async () => {
  const gateway = await startTestGateway()
  const { credentials, paidOrder } = await merchantAt(gateway)
  const address = '127.0.0.1:18486'
  for (let earlier = 0; earlier < 5; earlier++)
    await paidOrder({ callbackUrl: `http://${address}/gone-${earlier}` })
  const isPaused = async () => {
    const { rows } = await gateway.pool.query(
      `select from callback_hosts where host = '${address}' and paused_until > ${Date.now() + 2_000}`,
    )
    return rows.length === 1
  }
  await until(isPaused)
  const conformed = await conform(
    credentials,
    ...['--json', '--listen', address, '--clause', '2.11', '--callback-timeout', '1s'],
  )
  assert.deepEqual([conformed.exitCode, failed(conformed)], [0, []])
})

test('a gateway in memory that does what the interface says conforms', async () => {
  const conformed = await conformFake({}, '--json')
  assert.deepEqual(failed(conformed), [])
})

test('the report says every check in lines and as JUnit, and fails the command', async () => {
  const { exitCode, out, written } = await conformFake(
    {
      answer: ({ httpStatus, json }) => ({
        httpStatus,
        json: { ...json, msg: json.msg === 'SUCCESS' ? 'OK' : json.msg },
      }),
    },
    '--clause',
    '7.1',
    '--junit',
    'report.xml',
  )
  assert.equal(exitCode, 1)
  assert.match(out, /^7\.1 {3}FAIL {9}a success is HTTP 200 .*: msg is "OK"$/m)
  assert.match(out, /0 passed, 1 failed, 0 not testable/)
  assert.match(
    written['report.xml'] ?? '',
    /<testcase classname="7\.1".*<failure message="msg is &quot;OK&quot;"/,
  )
})

test('what cannot be brought about is not testable, and is no failure', async () => {
  const notPaid: Planted = { body: (body, method) => (method === 'service.sandbox.pay' ? {} : body) }
  const { exitCode, results } = await conformFake(notPaid, '--json', '--clause', '2.11')
  assert.equal(exitCode, 0)
  assert.ok(
    results.every(({ outcome, detail }) => outcome === 'not testable' && detail?.includes('--pay-command')),
  )
})

test('a command can pay in place of the sandbox', async () => {
  const { results } = await conformFake(
    {},
    '--json',
    '--clause',
    '2.11',
    '--callback-timeout',
    '200ms',
    '--retry-timeout',
    '200ms',
    '--pay-command',
    'test -n "$CHECKOUT_URL" && test "$OUTCOME" = failed',
  )
  const details = results.map(({ detail }) => detail)
  assert.match(details[0] ?? '', /--pay-command ended with 1 for the outcome success/)
  assert.match(
    details[1] ?? '',
    /no callback payment.order.failed came within 0.2 seconds; nothing has arrived at http:/,
  )
})

const onData =
  (method: string, change: (data: Record<string, unknown>) => void): NonNullable<Planted['answer']> =>
  (answer, of) => {
    if (of === `service.trade.${method}` && answer.json.code === 20000) change(answer.json.data)
    return answer
  }
const onResult =
  (events: RegExp, change: (result: Record<string, unknown>) => void): NonNullable<Planted['callback']> =>
  (callback) => {
    if (events.test(callback.eventName)) change(callback.result)
    return callback
  }
/** Fills in what is missing, or takes back what is wrong, so that it is accepted. */
const forgives = (change: (body: Record<string, never>) => void): Planted => ({
  body: (body, method) => {
    if (method === 'service.trade.create') change(body)
    return body
  },
})
const stranger = parsePrivateKey(keys.stranger.privateKey)
const text = (value: unknown) => (typeof value === 'string' ? value : '')
// biome-ignore lint/suspicious/noExplicitAny: deviations change whatever they like
type Loose = any

const plain = ({ body }: Loose) => decryptBytes(Buffer.from(body, 'base64'), parsed.aesKey)

const deviations: readonly (readonly [Clause, string, Planted])[] = [
  ['2.1', 'takes format xml', { envelope: (e) => ({ ...e, format: 'json' }), opened: plain }],
  ['2.1', 'refuses a request without format', { envelope: (e) => (e.format ? e : {}) }],
  [
    '2.1',
    'takes a request without timestamp',
    { envelope: (e) => ({ timestamp: Date.now(), ...e }), opened: plain },
  ],
  [
    '2.1',
    'takes any method for create',
    {
      envelope: (e) => ({ ...e, method: e.method?.endsWith('nothing') ? 'service.trade.create' : e.method }),
      opened: plain,
    },
  ],
  [
    '2.2',
    'answers without data',
    {
      answer: ({ httpStatus, json }) => ({
        httpStatus,
        json: json.code === 20000 ? { code: 20000, msg: 'SUCCESS' } : json,
      }),
    },
  ],
  [
    '2.2',
    'answers a status in words as code',
    {
      answer: ({ httpStatus, json }) => ({
        httpStatus,
        json: json.code === 20000 ? json : { ...json, code: 'FAILED' },
      }),
    },
  ],
  [
    '2.2',
    'answers failures without msg',
    {
      answer: ({ httpStatus, json: { code, data, msg } }) => ({
        httpStatus,
        json: code === 20000 ? { code, msg, data } : { code, data },
      }),
    },
  ],
  [
    '2.3',
    'takes a create without currency',
    forgives((body: Loose) => {
      body.currency ??= 'USD'
    }),
  ],
  [
    '2.3',
    'takes any channel',
    forgives((body: Loose) => {
      body.channel &&= 'WEB'
    }),
  ],
  ['2.3', 'refuses the channel APP', { body: (body) => (body.channel === 'APP' ? {} : body) }],
  [
    '2.3',
    'rounds fractions of yen',
    forgives((body: Loose) => {
      if (body.currency === 'JPY') {
        for (const o of [body, body.order, body.order.goods[0]])
          for (const name of ['paymentAmount', 'orderAmount', 'goodsAmount'])
            if (o[name]) o[name] = Math.round(o[name])
      }
    }),
  ],
  [
    '2.3',
    'takes any currency',
    forgives((body: Loose) => {
      if (body.currency === 'ZZZ') body.currency = 'USD'
    }),
  ],
  [
    '2.3',
    'lets orders expire after a minute',
    forgives((body: Loose) => {
      body.paymentExpiryTime = Math.max(body.paymentExpiryTime, body.paymentTime + 300_000)
    }),
  ],
  [
    '2.3',
    'lets orders live for days',
    forgives((body: Loose) => {
      body.paymentExpiryTime = Math.min(body.paymentExpiryTime, body.paymentTime + 86_400_000)
    }),
  ],
  [
    '2.3',
    'takes amounts below zero',
    forgives((body: Loose) => {
      if (typeof body.paymentAmount === 'number') body.paymentAmount = Math.abs(body.paymentAmount)
    }),
  ],
  [
    '2.4',
    'takes an order without orderNo',
    forgives((body: Loose) => {
      if (body.order) body.order.orderNo ??= `n${Math.random()}`
    }),
  ],
  [
    '2.4',
    'takes an order without goods',
    forgives((body: Loose) => {
      if (body.order) body.order.goods ??= [{ referenceGoodsId: 'g', goodsName: 'Tea' }]
    }),
  ],
  ['2.4', 'refuses tips', { body: (body) => (typeof body.order?.tips === 'number' ? {} : body) }],
  [
    '2.5',
    'takes goods without a name',
    forgives((body: Loose) => {
      if (Array.isArray(body.order?.goods)) body.order.goods[0].goodsName ??= 'Tea'
    }),
  ],
  [
    '2.5',
    'does not know goodsUnitAmount',
    { body: (body) => (body.order?.goods?.[0]?.goodsUnitAmount ? {} : body) },
  ],
  [
    '2.6',
    'takes any shipType',
    forgives((body: Loose) => {
      if (body.order?.shipping?.shipType) body.order.shipping.shipType = 'SHIPPING'
    }),
  ],
  [
    '2.6',
    'takes shipping without a name',
    forgives((body: Loose) => {
      if (body.order?.shipping) body.order.shipping.name ??= 'A'
    }),
  ],
  [
    '2.6',
    'does not know PICKUP_IN_STORE',
    { body: (body) => (body.order?.shipping?.shipType === 'PICKUP_IN_STORE' ? {} : body) },
  ],
  [
    '2.7',
    'answers a paymentId of 40 characters',
    {
      answer: onData('create', (data) => {
        data['paymentId'] = text(data['paymentId']).padEnd(40, '0')
      }),
    },
  ],
  [
    '2.7',
    'answers another referOrderNo',
    {
      answer: onData('create', (data) => {
        data['referOrderNo'] = text(data['referOrderNo']).slice(0, 8)
      }),
    },
  ],
  [
    '2.7',
    'answers a checkoutUrl without a host',
    {
      answer: onData('create', (data) => {
        data['checkoutUrl'] = '/checkout'
      }),
    },
  ],
  [
    '2.7',
    'always answers the channel WEB',
    {
      answer: onData('create', (data) => {
        data['channel'] = 'WEB'
      }),
    },
  ],
  [
    '2.8',
    'answers orders that it does not have',
    {
      answer: (answer, method) =>
        method === 'service.trade.query' && answer.json.code === 40400
          ? { httpStatus: 200, json: { code: 20000, msg: 'SUCCESS', data: {} } }
          : answer,
    },
  ],
  [
    '2.9',
    'answers no merchantId',
    {
      answer: onData('query', (data) => {
        delete data['merchantId']
      }),
    },
  ],
  [
    '2.9',
    'answers a paymentTime in seconds',
    {
      answer: onData('query', (data) => {
        data['paymentTime'] = 1_760_000_000
      }),
    },
  ],
  [
    '2.9',
    'answers cents as payAmount',
    {
      answer: onData('query', (data) => {
        if (data['payAmount']) data['payAmount'] = 1_000
      }),
    },
  ],
  [
    '2.9',
    'answers the order’s number beside a refund',
    {
      answer: onData('query', (data) => {
        data['referOrderNo'] = text(data['referOrderNo']).replace(/-r$/, '')
      }),
    },
  ],
  ['2.10', 'counts callbacks instead of giving them a GUID', { sealed: (e) => ({ ...e, id: '17' }) }],
  ['2.10', 'sends callbacks without timestamp', { sealed: ({ timestamp, ...e }) => e }],
  ['2.10', 'sends signType SHA256', { sealed: (e) => ({ ...e, signType: 'SHA256' }) }],
  [
    '2.11',
    'sends payments without an amount',
    {
      callback: onResult(/order/, (result) => {
        delete result['paymentAmount']
      }),
    },
  ],
  [
    '2.11',
    'sends payments without completeTime',
    {
      callback: onResult(/order/, (result) => {
        delete result['completeTime']
      }),
    },
  ],
  [
    '2.11',
    'sends failed payments without a message',
    {
      callback: onResult(/order.failed/, (result) => {
        result['msg'] = ''
      }),
    },
  ],
  [
    '2.12',
    'sends refunds without refundTime',
    {
      callback: onResult(/refund/, (result) => {
        delete result['refundTime']
      }),
    },
  ],
  [
    '2.12',
    'sends the amount of the payment as that of the refund',
    {
      callback: onResult(/refund/, (result) => {
        result['refundAmount'] = 10
      }),
    },
  ],
  [
    '3.1',
    'never says confirming',
    { callback: (callback) => (callback.eventName.endsWith('confirming') ? { eventName: '' } : callback) },
  ],
  [
    '3.1',
    'queries expired orders as failed',
    {
      answer: onData('query', (data) => {
        if (data['status'] === 'timeout') data['status'] = 'failed'
      }),
    },
  ],
  [
    '3.2',
    'answers a refund with its end',
    {
      answer: onData('refund', (data) => {
        data['status'] = 'refund_success'
      }),
    },
  ],
  [
    '3.3',
    'creates orders as confirming',
    {
      answer: onData('create', (data) => {
        data['status'] = 'confirming'
      }),
    },
  ],
  ['4.1', 'has no cancel', { envelope: (e) => (e.method?.endsWith('cancel') ? {} : e) }],
  ['4.2', 'does not serve /cgi', { path: (path) => (path.startsWith('/cgi') ? '/' : path) }],
  [
    '4.2',
    'answers success with HTTP 201',
    { answer: ({ httpStatus, json }) => ({ httpStatus: httpStatus === 200 ? 201 : httpStatus, json }) },
  ],
  [
    '4.3',
    'does not serve query at the gateway path',
    {
      envelope: (e) => e,
      path: (path) => path,
      answer: (answer, method) =>
        method === 'service.trade.query' ? { httpStatus: 404, json: { code: 40401, msg: 'No.' } } : answer,
    },
  ],
  ['4.4', 'sends callbacks as text', { posting: (posting) => ({ ...posting, contentType: 'text/plain' }) }],
  ['4.4', 'sends by PUT', { posting: (posting) => ({ ...posting, verb: 'PUT' }) }],
  ['4.4', 'sends again what was acknowledged', { sendsTwice: true }],
  ['5.1', 'does not look at signatures', { opened: plain }],
  ['5.1', 'takes any merchantId', { envelope: (e) => ({ ...e, merchantId: fakeCredentials.merchantId }) }],
  [
    '5.2',
    'takes bodies that are not encrypted',
    {
      opened: ({ body }) => (body.startsWith('{') ? body : undefined),
      envelope: (e) => (text(e.body).startsWith('{') ? { ...e, method: 'service.trade.create' } : e),
      answer: (answer) =>
        answer.json.msg?.startsWith('body must')
          ? { httpStatus: 200, json: { code: 20000, msg: 'SUCCESS', data: {} } }
          : answer,
    },
  ],
  ['5.3', 'signs over the encrypted body', { opened: plain }],
  ['5.4', 'signs callbacks with another key', { signingKey: stranger }],
  ['5.4', 'sends callbacks that are not encrypted', { sealed: (e) => ({ ...e, body: 'e30=' }) }],
  [
    '5.5',
    'answers in text',
    {
      answer: ({ httpStatus, json }) => ({
        httpStatus,
        json:
          json.code === 20000
            ? { ...json, data: Buffer.from(JSON.stringify(json.data)).toString('base64') }
            : json,
      }),
    },
  ],
  [
    '6',
    'has another name for timeouts',
    {
      callback: (callback) => ({ ...callback, eventName: callback.eventName.replace('timeout', 'expired') }),
    },
  ],
  [
    '6',
    'sends no callback of a failed refund',
    {
      callback: (callback) => (callback.eventName === 'payment.refund.failed' ? { eventName: '' } : callback),
    },
  ],
  [
    '6',
    'sends the order’s result with refunds',
    {
      callback: onResult(/refund/, (result) => {
        delete result['refundId']
      }),
    },
  ],
  ['6', 'repeats callbacks under another id', { newIdOnRetry: true }],
  [
    '7.1',
    'says OK instead of SUCCESS',
    { answer: ({ httpStatus, json }) => ({ httpStatus, json: { ...json, msg: 'OK' } }) },
  ],
  [
    '7.2',
    'fails without saying why',
    {
      answer: ({ httpStatus, json }) => ({
        httpStatus,
        json: json.code === 20000 ? json : { ...json, msg: '' },
      }),
    },
  ],
  ['7.3', 'never repeats a callback', { sendsOnce: true }],
  [
    '7.4',
    'does not say why a payment failed',
    {
      answer: onData('query', (data) => {
        if (data['status'] === 'failed') data['msg'] = ''
      }),
    },
  ],
  [
    '8',
    'takes an orderNo of any length',
    forgives((body: Loose) => {
      if (body.order?.orderNo) body.order.orderNo = body.order.orderNo.slice(0, 64)
    }),
  ],
  [
    '8',
    'takes an orderNo of 32 characters at most',
    { body: (body) => (body.order?.orderNo?.length > 32 ? {} : body) },
  ],
  [
    '8',
    'takes any number of goods',
    forgives((body: Loose) => {
      if (Array.isArray(body.order?.goods)) body.order.goods.length = Math.min(100, body.order.goods.length)
    }),
  ],
  [
    '8',
    'cuts long addresses',
    forgives((body: Loose) => {
      if (body.redirectUrl) body.redirectUrl = body.redirectUrl.slice(0, 2048)
    }),
  ],
  ['8', 'takes times in seconds', { envelope: (e) => ({ ...e, timestamp: Date.now() }), opened: plain }],
  ['9', 'serves every version', { path: (path) => path.replace('/v2/', '/v1/') }],
]

for (const [clause, what, planted] of deviations) {
  test(`clause ${clause} finds a gateway that ${what}`, async () => {
    const options = ['--callback-timeout', '300ms', '--retry-timeout', '300ms']
    const { exitCode, results } = await conformFake(planted, '--json', '--clause', clause, ...options)
    assert.equal(exitCode, 1)
    const found = results.filter(({ outcome }) => outcome === 'fail')
    assert.ok(found.length > 0 && found.every((each) => each.clause === clause), JSON.stringify(results))
  })
}

test('at least 40 deviations are planted, in every clause', () => {
  assert.ok(deviations.length >= 40)
  assert.deepEqual(new Set(deviations.map(([clause]) => clause)), new Set(Object.keys(clauses)))
})
