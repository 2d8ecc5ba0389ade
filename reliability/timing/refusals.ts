// Every kind of envelope that stays closed, as an outsider could send it: in the name of merchants that are there, that
// are suspended, that have more keys than others, and of merchants that do not exist.

import { type KeyObject, randomBytes, randomInt } from 'node:crypto'
import { makeAesKey, parseAesKey, type RequestWire, type SealingKeys, sealRequest } from '@tillgate/protocol'
import type { ManageMerchants } from '../../packages/gateway/src/core/merchants/manage-merchants.ts'
import type { Acting } from '../../packages/gateway/test/support/acting.ts'
import { otherPair, pair, strangerPair } from '../../packages/protocol/test/keys.ts'

/** Gives the next envelope of its kind. */
export type Refusal = () => RequestWire

/** What all others are compared with. */
export const reference = 'unknown merchant'
/** The same once more: how much two equal kinds seem to differ. */
export const sameAgain = 'the same again'
/** The reference, with something added after the answer, which must be seen. */
export const planted = 'planted difference'

const variants = 40
const body = JSON.stringify({ paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W', note: 'x'.repeat(600) })

export async function makeRefusals(merchants: Acting<ManageMerchants>): Promise<Map<string, Refusal>> {
  const publicKey = pem(pair.publicKey)
  const add = async (name: string) => {
    const { merchant, aesKey } = await merchants.addMerchant({ name, publicKey })
    return { merchantId: merchant.merchantId, aesKey: parseAesKey(aesKey), privateKey: pair.privateKey }
  }
  const known = await add('Known')
  const suspended = await add('Suspended')
  await merchants.suspendMerchant(suspended.merchantId, 'timing')
  const twoKeys = await add('Two keys')
  await merchants.addKey(twoKeys.merchantId, { kind: 'rsa', publicKey: pem(otherPair.publicKey) })
  await merchants.addKey(twoKeys.merchantId, { kind: 'aes' })
  const stranger = { aesKey: makeAesKey(randomBytes(32)), privateKey: strangerPair.privateKey }
  const asUnknown = (merchantId: string) => sealMany({ ...stranger, merchantId })
  const fresh = inTurn(await asUnknown('0'.repeat(18)))
  return new Map<string, Refusal>([
    [reference, inTurn(await asUnknown('999999999999999991'))],
    [sameAgain, inTurn(await asUnknown('999999999999999992'))],
    [planted, inTurn(await asUnknown('999999999999999991'))],
    ['unknown merchant, a new one each time', () => ({ ...fresh(), merchantId: someMerchantId() })],
    ['wrong tag', inTurn((await sealMany(known)).map(withWrongTag))],
    ['wrong AES key', inTurn(await sealMany({ ...known, aesKey: stranger.aesKey }))],
    ['wrong signature', inTurn(await sealMany({ ...known, privateKey: strangerPair.privateKey }))],
    ['suspended merchant, wrong tag', inTurn((await sealMany(suspended)).map(withWrongTag))],
    ['two keys of each kind, wrong tag', inTurn((await sealMany(twoKeys)).map(withWrongTag))],
  ])
}

function sealMany(sender: SealingKeys & { readonly merchantId: string }): Promise<RequestWire[]> {
  const message = {
    merchantId: sender.merchantId,
    method: 'service.trade.query',
    timestamp: Date.now(),
    body,
  }
  return Promise.all(Array.from({ length: variants }, () => sealRequest(message, sender)))
}

function withWrongTag(envelope: RequestWire): RequestWire {
  const bytes = Buffer.from(envelope.body, 'base64')
  const last = bytes.length - 1
  bytes.writeUInt8(bytes.readUInt8(last) ^ 1, last)
  return { ...envelope, body: bytes.toString('base64') }
}

function inTurn(envelopes: readonly RequestWire[]): Refusal {
  let next = 0
  return () => envelopes[next++ % envelopes.length] as RequestWire
}

function someMerchantId(): string {
  return String(randomInt(1e14)).padStart(18, '9')
}

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString()
}
