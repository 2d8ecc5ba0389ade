// Every door at which an outsider could ask whether something is there: signing in, recovery, registration, one-time
// links, links of the checkout, notifications of rails. Of each the kinds of refusals that must not be told apart.
import { randomBytes } from 'node:crypto'
import type { TestGateway } from '../../packages/gateway/test/support/gateway.ts'
import { createBody } from '../../packages/gateway/test/support/order.ts'
import { PortalClient } from '../../packages/gateway/test/support/portal.ts'
import { testPin, WalletClient } from '../../packages/gateway/test/support/wallet.ts'
import { loginsOf, type People } from './people.ts'
import { planted, sameAgain } from './refusals.ts'

export interface PageRequest {
  readonly path: string
  /** What is posted: a form, or a rail's notification. */
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  /** What the request before it still does after its answer is not to fall on this one. */
  readonly restMs?: number
}

export interface Door {
  /** What a difference must stay below: the fewer tries a door gives, the less they can tell. */
  readonly thresholdMicros: number
  /** The others are compared with the first. */
  readonly kinds: ReadonlyMap<string, () => PageRequest>
}

/** Of doors that lock or send mail: ten tries cannot tell this from the noise of one commit. */
const fewTriesMicros = 500
/** Of doors that are asked as often as the rate of pages allows. */
const manyTriesMicros = 30
const noOrder = 'P01K73ZQ800JZ7V3N4Q5R6S7T8W'

export async function makeDoors(gateway: TestGateway, people: People): Promise<Map<string, Door>> {
  const { merchant, links, railId } = people
  const { merchantId } = merchant
  const portal = await formsOf(new PortalClient(gateway), '/merchant/sign-in')
  const wallet = await formsOf(new WalletClient(gateway), '/wallet/sign-in')
  const signIn = (email: string) => portal('/merchant/sign-in', { email, password: 'none of theirs' })
  const enterPin = (login: string) => wallet('/wallet/sign-in', { login, pin: '999999' })
  const newPin = { code: '00000000', pin: testPin, again: testPin }
  const checkout = (id: string, of = merchantId) => `/checkout/${of}/${id}/${token()}`

  return new Map<string, Door>([
    ['portal, sign-in', ofLogins(signIn, { somebody: 'member' })],
    ['portal, sign-in to what is locked', ofLogins(signIn, { somebody: 'locked-member' }, 'locked-nobody')],
    [
      'portal, forgotten password',
      ofLogins((email) => rested(portal('/merchant/forgotten', { email })), { somebody: 'member' }),
    ],
    [
      'portal, invitation',
      ofPaths(() => `/merchant/join/${token()}`, { used: links.used, expired: links.expired }),
    ],
    [
      'portal, link to a new password',
      ofPaths(() => `/merchant/recover/${token()}`, { expired: links.recovery }),
    ],
    ['wallet, sign-in', ofLogins(enterPin, { somebody: 'wallet', 'locked by an operator': 'shut-wallet' })],
    ['wallet, sign-in to what is locked', ofLogins(enterPin, { somebody: 'locked-wallet' }, 'locked-nobody')],
    [
      'wallet, forgotten PIN',
      ofLogins((login) => rested(wallet('/wallet/forgotten', { login })), {
        somebody: 'wallet',
        'somebody whose address is not confirmed': 'typed-wallet',
      }),
    ],
    [
      'wallet, code for a new PIN',
      ofLogins((login) => wallet('/wallet/new-pin', { login, ...newPin }), {
        'somebody without a code': 'wallet',
        'somebody with a code': 'coded-wallet',
      }),
    ],
    [
      'wallet, registration',
      ofLogins((login) => rested(wallet('/wallet/register', { login })), { somebody: 'wallet' }),
    ],
    [
      'wallet, code of a registration',
      ofLogins((login) => wallet('/wallet/register/confirm', { login, name: 'Timing', ...newPin }), {
        somebody: 'wallet',
      }),
    ],
    [
      'checkout',
      ofPaths(() => checkout(noOrder), {
        'an order that is there': (await orders()).map((id) => checkout(id)),
        'no such merchant': [checkout(noOrder, '999999999999999991')],
      }),
    ],
    ['notifications of rails', ofRails({ 'a rail that is there': railId })],
  ])

  async function orders(): Promise<string[]> {
    const made = await Promise.all(
      Array.from({ length: 8 }, () =>
        merchant.call('service.trade.create', createBody({ now: gateway.clock.now() })),
      ),
    )
    return made.map(({ data }) => data.paymentId)
  }
}

type Ask = (login: string) => PageRequest

function ofLogins(ask: Ask, others: Readonly<Record<string, string>>, nobody = 'nobody'): Door {
  const kind = (name: string) => inTurn(loginsOf(name), ask)
  return {
    thresholdMicros: fewTriesMicros,
    kinds: new Map([
      ['nobody', kind(nobody)],
      [sameAgain, kind(`${nobody}-else`)],
      [planted, kind(nobody)],
      ...Object.entries(others).map(([name, login]) => [name, kind(login)] as const),
    ]),
  }
}

function ofPaths(unknown: () => string, others: Readonly<Record<string, readonly string[]>>): Door {
  const get = (path: string): PageRequest => ({ path, headers: {} })
  const guess = () => get(unknown())
  return {
    thresholdMicros: manyTriesMicros,
    kinds: new Map([
      ['never was', guess],
      [sameAgain, guess],
      [planted, guess],
      ...Object.entries(others).map(([name, paths]) => [name, inTurn(paths, get)] as const),
    ]),
  }
}

function ofRails(others: Readonly<Record<string, string>>): Door {
  const notification = (railId: string) => (): PageRequest => ({
    path: `/rails/${railId}/notifications`,
    headers: {
      'content-type': 'application/json',
      'webhook-id': `msg_${token()}`,
      'webhook-timestamp': '1800000000',
      'webhook-signature': `v1,${randomBytes(32).toString('base64')}`,
    },
    body: JSON.stringify({ type: 'payment.changed', transactionId: token() }),
  })
  return {
    thresholdMicros: manyTriesMicros,
    kinds: new Map([
      ['no such rail', notification('nowhere')],
      [sameAgain, notification('nothing')],
      [planted, notification('nowhere')],
      ...Object.entries(others).map(([name, railId]) => [name, notification(railId)] as const),
    ]),
  }
}

/** Forms as a browser sends them that has seen the page. */
async function formsOf(
  client: PortalClient | WalletClient,
  page: string,
): Promise<(path: string, fields: Readonly<Record<string, string>>) => PageRequest> {
  const formToken = await client.token(page)
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
  return (path, fields) => ({
    path,
    headers,
    body: new URLSearchParams({ token: formToken, ...fields }).toString(),
  })
}

function rested(request: PageRequest): PageRequest {
  return { ...request, restMs: 20 }
}

function inTurn<Item>(items: readonly Item[], ask: (item: Item) => PageRequest): () => PageRequest {
  let next = 0
  return () => ask(items[next++ % items.length] as Item)
}

/** One that nobody was given. */
function token(): string {
  return randomBytes(32).toString('base64url')
}
