// Stores PINs and passwords as salted scrypt hashes, sealed by the vault: a PIN has so few digits that its hash alone
// would reveal it, and the master key is not in the database.
import { scrypt, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { RandomBytes } from '@tillgate/protocol'
import { makeTurns } from '../turns.ts'
import type { ScryptCost, Vault } from './vault.ts'

const saltBytes = 16
const hashBytes = 32

export async function hashSecret(
  secret: string,
  { vault: { hashCost }, random }: { vault: Pick<Vault, 'hashCost'>; random: RandomBytes },
): Promise<Buffer> {
  const salt = Buffer.from(random(saltBytes))
  const hash = await derive(secret, salt, hashCost)
  const parts = [
    'scrypt',
    hashCost.N,
    hashCost.r,
    hashCost.p,
    salt.toString('base64'),
    hash.toString('base64'),
  ]
  return Buffer.from(parts.join('$'))
}

export async function sealHash(
  { secret, place }: { secret: string; place: string },
  parts: { vault: Pick<Vault, 'seal' | 'hashCost'>; random: RandomBytes },
): Promise<Buffer> {
  return parts.vault.seal(await hashSecret(secret, parts), place)
}

export async function isRightSecret(
  { secret, place }: { secret: string; place: string },
  { sealed, vault }: { sealed: Buffer; vault: Pick<Vault, 'open'> },
): Promise<boolean> {
  const [scheme, N, r, p, salt = '', hash = ''] = vault.open(sealed, place).toString().split('$')
  if (scheme !== 'scrypt') throw new Error('a secret rests as a scrypt hash')
  const expected = Buffer.from(hash, 'base64')
  const actual = await derive(secret, Buffer.from(salt, 'base64'), {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  })
  return timingSafeEqual(actual, expected)
}

/** Takes as long as a comparison and always fails. */
export async function compareWithDecoy(secret: string, { hashCost }: Pick<Vault, 'hashCost'>): Promise<void> {
  await derive(secret, decoySalt, hashCost)
}

const decoySalt = Buffer.alloc(saltBytes)

/**
 * Signatures are verified on the same threads. A flood of wrong PINs leaves half of the threads and cores to other
 * work.
 */
const atOnce = Math.max(
  1,
  Math.floor(Math.min(availableParallelism(), Number(process.env['UV_THREADPOOL_SIZE'] ?? 4)) / 2),
)
const inTurn = makeTurns(atOnce)

function derive(secret: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  const options = { N, r, p, maxmem: 256 * N * r }
  return inTurn(
    () =>
      new Promise((resolve, reject) => {
        scrypt(secret, salt, hashBytes, options, (error, key) => (error ? reject(error) : resolve(key)))
      }),
  )
}
