// PINs rest as scrypt hashes with their parameters and a salt of their own.
import { scrypt, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '@tillgate/protocol'

/** 32 MiB and about 100 ms on one core: a PIN has few digits, so each guess must cost. */
const cost = { N: 2 ** 15, r: 8, p: 1 } as const
const saltBytes = 16
const hashBytes = 32

export async function hashPin(pin: string, random: RandomBytes): Promise<string> {
  const salt = Buffer.from(random(saltBytes))
  const hash = await derive(pin, salt, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64'), hash.toString('base64')].join('$')
}

export async function isRightPin(pin: string, stored: string): Promise<boolean> {
  const [scheme, N, r, p, salt = '', hash = ''] = stored.split('$')
  if (scheme !== 'scrypt') throw new Error('a PIN rests as a scrypt hash')
  const expected = Buffer.from(hash, 'base64')
  const actual = await derive(pin, Buffer.from(salt, 'base64'), { N: Number(N), r: Number(r), p: Number(p) })
  return timingSafeEqual(actual, expected)
}

/** Costs what comparing costs, and is right for nobody. */
export async function comparePinWithNobody(pin: string): Promise<void> {
  await derive(pin, nobodysSalt, cost)
}

const nobodysSalt = Buffer.alloc(saltBytes)

function derive(
  pin: string,
  salt: Buffer,
  { N, r, p }: { N: number; r: number; p: number },
): Promise<Buffer> {
  const options = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) => {
    scrypt(pin, salt, hashBytes, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
