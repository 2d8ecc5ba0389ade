// Keys for tests, made once a process: an RSA pair takes a quarter of a second.
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { type AesKey, makeAesKey } from '../src/keys.ts'

export interface Pair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export function makePair(modulusLength = 2048): Pair {
  return generateKeyPairSync('rsa', { modulusLength })
}

export function randomAesKey(): AesKey {
  return makeAesKey(randomBytes(32))
}

export const pair = makePair()
export const otherPair = makePair()
export const aesKey = randomAesKey()
export const otherAesKey = randomAesKey()
export const openingKeys = { aesKeys: [aesKey], publicKeys: [pair.publicKey] }
export const sealingKeys = { aesKey, privateKey: pair.privateKey }
