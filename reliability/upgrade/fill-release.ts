// Everything that a release can hold, made by its own program: merchants and their keys, orders of every status, refunds,
// callbacks that were taken, wait, fail and are given up, wallets, operators, tokens and requests for approval.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { KnownCallback, KnownOfRelease } from '../../packages/gateway/test/support/kept-release.ts'
import { MerchantClient, type MerchantKeys } from '../../packages/gateway/test/support/merchant-client.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import type { Release } from './release.ts'

/** Nobody listens there. */
const deadUrl = 'http://127.0.0.1:9/callbacks'
const dayMs = 86_400_000
const scopes =
  'orders:read,orders:act,callbacks:read,callbacks:act,merchants:read,money:move,ledger:read,approvals:read,approvals:decide,audit:read'

/** Leaves the database at rest, with its server stopped. */
export async function fillRelease(
  release: Release,
  { dataDir, masterKey }: { readonly dataDir: string; readonly masterKey: string },
): Promise<KnownOfRelease> {
  const shop = createServer((_request, response) => response.end('{"code":20000,"msg":""}'))
  shop.listen(0, '127.0.0.1')
  await once(shop, 'listening')
  // Safe: it listens on TCP.
  const callbackUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/callbacks`
  const environment = {
    DATA_DIR: dataDir,
    MASTER_KEY: masterKey,
    OPERATOR_PASSWORD: 'a password of the first operator',
    APPROVAL_FOR: 'money-in',
    APPROVAL_REFUND_ABOVE: '5 EUR',
  }
  const { tree } = release
  const gateway = await GatewayChild.make({ dataDir, environment, tree })
  const withoutWorkers = await GatewayChild.make({
    dataDir,
    environment: { ...environment, ROLES: 'api' },
    tree,
  })
  const tillgate = (...args: string[]) => release.command(environment, ...args)
  try {
    gateway.start()
    await gateway.ready()
    const people = await addPeople(tillgate, dataDir)
    const demoMerchant = JSON.parse(
      await readFile(join(dataDir, 'sandbox-merchant.json'), 'utf8'),
    ) as MerchantKeys
    const merchants = [await addMerchant(release, environment), demoMerchant]
    const paidOrders: string[] = []
    for (const keys of merchants)
      paidOrders.push(
        await trade(new MerchantClient(gateway.url, keys), {
          callbackUrl,
          admin: apiOf(gateway, people.tokens[0]),
        }),
      )
    await askForApprovals(gateway, people)
    await gateway.stop()

    // Nobody works off what is begun from here on.
    withoutWorkers.start()
    await withoutWorkers.ready()
    const admin = apiOf(withoutWorkers, people.tokens[0])
    const orders = []
    let checkout = ''
    for (const [at, keys] of merchants.entries()) {
      const merchant = new MerchantClient(withoutWorkers.url, keys)
      checkout = await leaveUnfinished(merchant, { callbackUrl, paidOrder: paidOrders[at] ?? '' })
      orders.push(...(await queryAll(merchant, admin)))
    }
    return {
      release: release.version,
      masterKey,
      operators: [
        { login: 'admin', password: environment.OPERATOR_PASSWORD },
        { login: 'alice', password: people.password },
      ],
      token: people.tokens[0],
      wallet: people.wallet,
      demoMerchant,
      merchants,
      orders,
      checkout,
      callbacks: await listCallbacks(admin, ''),
    }
  } finally {
    await gateway.stop()
    await withoutWorkers.stop()
    shop.close().closeAllConnections()
  }
}

type Tillgate = (...args: string[]) => Promise<unknown>
type AdminApi = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>

interface People {
  readonly password: string
  readonly tokens: readonly [alice: string, bob: string]
  readonly wallet: { readonly login: string; readonly pin: string }
}

function apiOf({ adminUrl }: GatewayChild, token: string): AdminApi {
  return async (method, path, body) => {
    const response = await fetch(`${adminUrl}/api/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const { code, msg, data } = (await response.json()) as {
      code: number
      msg: string
      data: Record<string, unknown>
    }
    if (code !== 20000) throw new Error(`${method} ${path}: ${code} ${msg}`)
    return data
  }
}

async function addPeople(tillgate: Tillgate, folder: string): Promise<People> {
  const password = 'a password of alice and bob'
  const [passwordFile, pinFile] = [join(folder, 'password'), join(folder, 'pin')]
  await writeFile(passwordFile, password)
  await writeFile(pinFile, '482915')
  for (const [login, role] of [
    ['alice', 'admin'],
    ['bob', 'admin'],
    ['carol', 'viewer'],
  ] as const)
    await tillgate('operator', 'add', login, '--role', role, '--password-file', passwordFile)
  await tillgate('operator', 'disable', 'carol', '--reason', 'she left')
  const tokens: string[] = []
  for (const login of ['alice', 'bob']) {
    const made = await tillgate('token', 'add', 'upgrade', '--operator', login, '--scopes', scopes)
    tokens.push((made as { token: string }).token)
  }
  const login = 'dana@example.com'
  const why = ['--reason', 'a customer of ours']
  const named = ['--login', login, '--name', 'Dana', '--pin-file', pinFile]
  await tillgate('wallet', 'add', ...named, ...why)
  return {
    password,
    tokens: [tokens[0] ?? '', tokens[1] ?? ''],
    wallet: { login, pin: '482915' },
  }
}

async function addMerchant(
  release: Release,
  environment: Readonly<Record<string, string>> & { readonly DATA_DIR: string },
): Promise<MerchantKeys> {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const file = join(environment.DATA_DIR, 'merchant.pem')
  await writeFile(file, pair.publicKey)
  const colour = ['--accent-colour', '#1f6f5c']
  const given = ['--public-key', file, ...colour]
  const { merchantId, aesKey } = await release.addMerchant(environment, '--name', 'Tea “House” 茶', ...given)
  await release.command(environment, 'key', 'add', merchantId, '--aes', '--reason', 'to rotate it')
  const other = await release.addMerchant(environment, '--name', 'Gone', '--public-key', file)
  await release.command(environment, 'merchant', 'suspend', other.merchantId, '--reason', 'it closed')
  return { merchantId, aesKey, privateKey: pair.privateKey }
}

/** Orders that have come to their end, and some that wait for somebody outside. Gives back one that is paid. */
async function trade(
  merchant: MerchantClient,
  { callbackUrl, admin }: { callbackUrl: string; admin: AdminApi },
): Promise<string> {
  const create = async (orderNo: string, url = callbackUrl) =>
    (await merchant.create(orderNo, { callbackUrl: url })).paymentId
  const paid = async (orderNo: string, url = callbackUrl, outcome = 'success') => {
    const paymentId = await create(orderNo, url)
    await merchant.data('service.sandbox.pay', { paymentId, outcome })
    await until(`${orderNo} is paid`, async () => (await statusOf(merchant, paymentId)) === 'success')
    return paymentId
  }
  const refund = (paymentId: string, referRefundNo: string, refundAmount: string) =>
    merchant.data('service.trade.refund', { paymentId, referRefundNo, refundAmount })

  const paidOrder = await paid('paid')
  const refunded = await paid('refunded')
  await refund(refunded, 'first-half', '6.25')
  await refund(refunded, 'second-half', '6.25')
  await refund(await paid('partly-refunded'), 'a-part', '2.00')
  await refund(await paid('refund-refused', callbackUrl, 'refund_fails'), 'refused', '1.00')
  for (const [orderNo, outcome] of [
    ['declined', 'failed'],
    ['undecided', 'confirming'],
  ] as const)
    await merchant.data('service.sandbox.pay', { paymentId: await create(orderNo), outcome })
  await merchant.data('service.trade.cancel', { paymentId: await create('cancelled') })
  await merchant.data('service.sandbox.advance', { paymentId: await create('expired'), milliseconds: dayMs })
  await paid('callback-fails', deadUrl)
  await giveUp(merchant, await paid('callback-given-up', 'http://127.0.0.2:9/callbacks'), admin)
  await until('callbacks are taken', async () =>
    (await listCallbacks(admin, merchant.merchantId)).every(
      ({ host, state }) => host !== new URL(callbackUrl).host || state === 'delivered',
    ),
  )
  return paidOrder
}

/** Every attempt fails until a week is over. */
async function giveUp(merchant: MerchantClient, paymentId: string, admin: AdminApi): Promise<void> {
  await until('the callback is given up', async () => {
    const callbacks = await listCallbacks(admin, merchant.merchantId)
    const callback = callbacks.find((each) => each.paymentId === paymentId)
    if (callback?.state === 'exhausted') return true
    await admin('POST', '/callback-hosts/resume', {
      host: callback?.host ?? '',
      reason: 'to see it fail',
    }).catch((error: Error) => assert.match(error.message, /40901/, 'it is not paused'))
    await merchant.data('service.sandbox.advance', { paymentId, milliseconds: 7 * dayMs })
    return false
  })
}

async function listCallbacks(admin: AdminApi, merchantId: string): Promise<readonly KnownCallback[]> {
  const { callbacks } = await admin('GET', `/callbacks?limit=200${merchantId && `&merchantId=${merchantId}`}`)
  return (callbacks as KnownCallback[]).map(
    ({ callbackId, merchantId: of, paymentId, eventName, host, state, attemptsMade }) => ({
      callbackId,
      merchantId: of,
      paymentId,
      eventName,
      host,
      state,
      attemptsMade,
    }),
  )
}

async function askForApprovals(gateway: GatewayChild, people: People): Promise<void> {
  const [alice, bob] = [apiOf(gateway, people.tokens[0]), apiOf(gateway, people.tokens[1])]
  const topUp = async (amount: string) => {
    const body = { amount, currency: 'EUR', reason: 'at the counter' }
    const { approval } = await alice('POST', `/wallets/${people.wallet.login}/top-up`, body)
    return (approval as { approvalId: string }).approvalId
  }
  await bob('POST', `/approvals/${await topUp('100.00')}/approve`, { reason: 'looked at' })
  await bob('POST', `/approvals/${await topUp('11.00')}/reject`, { reason: 'too much' })
  await topUp('1.00')
}

/** What a worker would go on with at once. Gives back the path of a checkout. */
async function leaveUnfinished(
  merchant: MerchantClient,
  { callbackUrl, paidOrder }: { callbackUrl: string; paidOrder: string },
): Promise<string> {
  const refund = { paymentId: paidOrder, referRefundNo: 'just-begun', refundAmount: '3.00' }
  await merchant.data('service.trade.refund', refund)
  const { checkoutUrl } = await merchant.create('pending', { callbackUrl })
  const { paymentId } = await merchant.create('just-paid', { callbackUrl })
  await merchant.data('service.sandbox.pay', { paymentId, outcome: 'success' })
  const cancelled = await merchant.create('just-cancelled', { callbackUrl })
  await merchant.data('service.trade.cancel', { paymentId: cancelled.paymentId })
  return new URL(checkoutUrl).pathname
}

async function queryAll(merchant: MerchantClient, admin: AdminApi): Promise<KnownOfRelease['orders']> {
  const { merchantId } = merchant
  const { orders } = await admin('GET', `/orders?merchantId=${merchantId}&limit=200`)
  const answers = []
  for (const { paymentId } of orders as { paymentId: string }[])
    answers.push({ merchantId, paymentId, answer: await merchant.data('service.trade.query', { paymentId }) })
  return answers
}

async function statusOf(merchant: MerchantClient, paymentId: string): Promise<unknown> {
  return (await merchant.data('service.trade.query', { paymentId }))['paymentStatus']
}

const withinMs = 60_000

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it did not come to be that ${what}`)
    await pause(100)
  }
}
