// A gateway with hostile text in every field that merchants, consumers, operators and rails can fill, planted by the ways
// that they have.

import { randomBytes } from 'node:crypto'
import { reachingAll } from '../../../src/core/authority/context.ts'
import { scopeNames } from '../../../src/identity/operators/rules/api-token.ts'
import { actingAs } from '../acting.ts'
import { ApiClient } from '../admin-api.ts'
import type { OpenOrder } from '../checkout.ts'
import { ConsoleClient } from '../console.ts'
import { giveDispute } from '../disputes.ts'
import { startTestGateway, type TestGateway, type TestMerchant } from '../gateway.ts'
import { startMailServer, type TestMailServer } from '../mail-server.ts'
import { memberOf, type PortalClient } from '../portal.ts'
import type { WalletClient } from '../wallet.ts'
import { billYesterday, plantMoney } from './money.ts'
import { endOrders, openHostileShop, plantOrders, plantRefusals, type SpecialOrders } from './orders.ts'
import { plantPayments } from './payments.ts'
import { HostileTexts } from './texts.ts'

/** What planting needs. */
export interface Field {
  readonly gateway: TestGateway
  readonly texts: HostileTexts
  readonly api: ApiClient
  readonly merchant: TestMerchant
  /** Where callbacks go: it answers each by a hostile text. */
  readonly shop: string
}

export interface HostileWorld extends Field {
  readonly mail: TestMailServer
  readonly admin: ConsoleClient
  readonly member: PortalClient
  readonly consumer: WalletClient
  readonly orders: readonly OpenOrder[]
  readonly special: SpecialOrders
  readonly linkIds: readonly string[]
  /** One-time links, as paths. */
  readonly doors: readonly string[]
  /** For the parameters of routes. */
  readonly things: Readonly<Record<string, string>>
}

export async function plantHostileTexts(): Promise<HostileWorld> {
  const texts = new HostileTexts()
  const mail = await startMailServer()
  const gateway = await startTestGateway({
    environment: {
      OPERATOR_NAME: texts.text('operator name', { max: 60 }),
      SMTP_URL: mail.url,
      SMTP_FROM: 'Pay <no-reply@pay.test>',
      OPERATOR_EMAILS: 'ops@pay.test',
      BANK_ACCOUNT_WAIT_HOURS: '0',
      APPROVAL_REFUND_ABOVE: '0.01 USD',
    },
  })
  const given = { login: 'admin', name: 'hostile', scopes: scopeNames, days: 1 }
  const { token } = await gateway.operations.apiTokens.addToken(reachingAll('test'), given)
  const merchant = await gateway.addMerchant({ name: texts.text('merchant name') })
  const api = new ApiClient(gateway, token)
  const field: Field = { gateway, texts, api, merchant, shop: await openHostileShop(texts) }
  const { orders, special } = await plantOrders(field)
  const linkIds = await plantLinks(field)
  await plantRefusals(field)
  await plantSettings(field)
  const consumer = await plantPayments(field, special)
  await endOrders(field, special)
  const disputeId = await plantDispute(field, special)
  const money = await plantMoney(field)
  const { client: member, doors } = await invitePeople(field)
  await plantPasskeys(field, consumer.login)
  const day = await billYesterday(field)
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  return {
    ...field,
    mail,
    admin,
    member,
    consumer: consumer.client,
    orders,
    special,
    linkIds,
    doors,
    things: { ...(await thingsOf(field, consumer.walletId)), ...money, day, disputeId },
  }
}

/** Of the paid order, with the merchant's evidence. */
async function plantDispute(
  { gateway, texts, merchant: { merchantId } }: Field,
  special: SpecialOrders,
): Promise<string> {
  const { pool } = gateway
  const disputeId = await giveDispute(pool, { merchantId, paymentId: special.paid.paymentId })
  const response = {
    kind: 'evidence',
    givenAtMs: Date.now(),
    evidenceId: disputeId,
    text: texts.text('evidence'),
    file: { name: texts.text('evidence file', { max: 60 }), contentType: 'application/pdf' },
  }
  await pool.query('update disputes set response = $3 where merchant_id = $1 and dispute_id = $2', [
    merchantId,
    disputeId,
    JSON.stringify(response),
  ])
  return disputeId
}

async function plantLinks({ texts, merchant, shop }: Field): Promise<string[]> {
  const linkIds: string[] = []
  for (let number = 0; number < 6; number++) {
    const { data, msg } = await merchant.call('service.link.create', {
      linkNo: texts.text('linkNo', { max: 64, takesHidden: true }),
      title: texts.text('link title', { takesHidden: true }),
      currency: 'USD',
      amount: '12.50',
      goods: [
        {
          referenceGoodsId: `goods-${number}`,
          goodsName: texts.text('link goods.goodsName', { takesHidden: true }),
          goodsAmount: '12.50',
        },
      ],
      callbackUrl: texts.url('link callbackUrl', `${shop}/links`),
      redirectUrl: texts.url('link redirectUrl', 'https://shop.example/back'),
    })
    if (!data?.linkId) throw new Error(msg)
    linkIds.push(data.linkId)
  }
  return linkIds
}

async function plantSettings({ texts, api, merchant: { merchantId }, shop }: Field): Promise<void> {
  const params = { merchantId }
  const defaultCallbackUrl = texts.url('default callbackUrl', `${shop}/default`)
  const settings = { defaultCallbackUrl, contactEmails: ['ops@shop.example'], reason: texts.text('reason') }
  await api.data('merchant.change', { params, body: settings })
  const url = texts.url('endpoint url', `${shop}/endpoint`)
  const body = { url, format: 'envelope', reason: texts.text('reason') }
  await api.data('endpoint.add', { params, body })
}

async function invitePeople({ gateway, merchant: { merchantId } }: Field) {
  // Where no mail is sent, links are handed over.
  const linking = await startTestGateway({ share: gateway, environment: { ROLES: 'api' } })
  const { client, email } = await memberOf(linking, merchantId, 'owner')
  const { members } = actingAs(linking.operations, 'test')
  const invited = await members.inviteMember({ merchantId, email: 'new@shop.example', role: 'viewer' })
  const recovered = await members.recoverAccount({ merchantId, login: email }, 'test')
  return { client, doors: [invited, recovered].map(({ link }) => new URL(link ?? '').pathname) }
}

async function plantPasskeys(
  { gateway, texts, merchant: { merchantId } }: Field,
  login: string,
): Promise<void> {
  const { members } = await actingAs(gateway.operations, 'test').members.listMembers(merchantId)
  for (const [kind, account] of [
    ['wallet', login],
    ['operator', 'admin'],
    ...members.map((member) => ['member', member.login] as const),
  ] as const)
    await gateway.pool.query(
      `insert into passkeys (credential_id, account_kind, account, name, public_key, sign_count, last_challenge_at, created_at)
       values ($1, $2, $3, $4, '', 0, 0, 0)`,
      [randomBytes(32), kind, account, texts.text('passkey name', { max: 60 })],
    )
}

async function thingsOf(
  { gateway, merchant: { merchantId } }: Field,
  walletId: string,
): Promise<Record<string, string>> {
  const { rows } = await gateway.pool.query<Record<string, string>>(
    `select (select endpoint_id::text from callback_endpoints where merchant_id = $1 limit 1) as "endpointId",
            (select callback_id::text from callback_attempts where merchant_id = $1 limit 1) as "callbackId",
            (select key_id::text from merchant_keys where merchant_id = $1 limit 1) as "keyId",
            (select login from members where merchant_id = $1 limit 1) as "login",
            (select link_id::text from member_links where merchant_id = $1 and used_at is null limit 1) as "invitationId",
            (select bank_account_id::text from merchant_bank_accounts where merchant_id = $1 limit 1) as "bankAccountId"`,
    [merchantId],
  )
  const { rows: passkeys } = await gateway.pool.query<{ account_kind: string; credential_id: Buffer }>(
    'select account_kind, credential_id from passkeys',
  )
  const entries = await gateway.stores.walletHistory.list(walletId, { limit: 10 })
  const payment = entries.find(({ kind }) => kind === 'payment')
  return {
    merchantId,
    walletId,
    railId: 'bank',
    ...rows[0],
    key: `${payment?.madeAtMs}-${payment?.transferId}`,
    ...Object.fromEntries(
      passkeys.map((each) => [`${each.account_kind}Passkey`, each.credential_id.toString('base64url')]),
    ),
  }
}
