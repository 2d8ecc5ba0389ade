// Keys for tests. RSA pairs come from the test vectors: making one takes a quarter of a second.
import { randomBytes } from 'node:crypto'
import { makeAesKey } from '../src/keys.ts'
import { readVectorKeys } from './vector-keys.ts'
import { readKeys } from './vectors.ts'

const { merchant, gateway, stranger } = readKeys(readVectorKeys())

export const pair = { privateKey: merchant.privateKey, publicKey: merchant.publicKey }
export const otherPair = { privateKey: gateway.privateKey, publicKey: gateway.publicKey }
export const strangerPair = { privateKey: stranger.privateKey, publicKey: stranger.publicKey }
export const aesKey = makeAesKey(randomBytes(32))
export const otherAesKey = makeAesKey(randomBytes(32))
export const openingKeys = { aesKeys: [aesKey], publicKeys: [pair.publicKey] }
export const sealingKeys = { aesKey, privateKey: pair.privateKey }
