import assert from 'node:assert/strict'
import { sign } from 'node:crypto'
import { test } from 'node:test'
import { bytesKept, mostBytesKept } from '../../test/kept.ts'
import { pair } from '../../test/keys.ts'
import { signOnThreadPool } from './crypto-jobs.ts'

const textOf = (index: number) => `${index}`.padEnd(100_000, 'x')

test('signed texts are freed by the next minor garbage collection', async () => {
  const kept = await bytesKept(async () => {
    for (let index = 0; index < 100; index++) {
      const bytes = Buffer.from(textOf(index))
      await signOnThreadPool({ algorithm: 'sha256', bytes, privateKey: pair.privateKey })
    }
  })
  assert.ok(kept < 1_000_000, `${kept} bytes of 10,000,000 were kept`)
})

test('the workaround is needed while a callback that refers to the text keeps it', async () => {
  const signSeeingTheText = (text: string) =>
    new Promise<string>((resolve, reject) => {
      sign('sha256', Buffer.from(text), pair.privateKey, (error, signature) =>
        error ? reject(error) : resolve(signature.toString('base64') + text.length),
      )
    })
  const signMany = async () => {
    for (let index = 0; index < 100; index++) await signSeeingTheText(textOf(index))
  }
  const kept = await mostBytesKept(signMany, { enough: 2_000_000 })
  assert.ok(kept >= 2_000_000, `only ${kept} bytes of 10,000,000 were kept: crypto-jobs.ts may go`)
})
