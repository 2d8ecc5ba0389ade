// The types that merchants install: they say what the sources say, and every member has its words.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as source from '../src/index.ts'
import type * as published from '../types/index.d.ts'

type Same<A, B> = [A, B] extends [B, A] ? true : false

/** The compiler refuses this where the two part ways. */
const agree: readonly true[] = [
  true satisfies Same<source.NewOrder, published.NewOrder>,
  true satisfies Same<source.CreateAnswer, published.CreateAnswer>,
  true satisfies Same<source.QueryAnswer, published.QueryAnswer>,
  true satisfies Same<source.CancelAnswer, published.CancelAnswer>,
  true satisfies Same<source.NewRefund, published.NewRefund>,
  true satisfies Same<source.RefundAnswer, published.RefundAnswer>,
  true satisfies Same<source.PaymentResult, published.PaymentResult>,
  true satisfies Same<source.RefundResult, published.RefundResult>,
  true satisfies Same<source.SandboxListenAnswer, published.SandboxListenAnswer>,
  true satisfies Same<source.EventName, published.EventName>,
  true satisfies Same<source.OrderEvent, published.OrderEvent>,
  true satisfies Same<source.Orders, published.Orders>,
  true satisfies Same<source.Refunds, published.Refunds>,
  true satisfies Same<source.Sandbox, published.Sandbox>,
]

test('every field and method that an editor shows has its words', () => {
  const lines = readFileSync(join(import.meta.dirname, '../types/index.d.ts'), 'utf8').split('\n')
  let isShown = false
  let members = 0
  const wordless = lines.filter((line, index) => {
    if (/^\S.*\{$/.test(line)) isShown = /^export (declare class|interface) /.test(line)
    // What an error is called and how one is made is for the SDK alone.
    const isMember = /^ {4}(?:readonly |static )*(?!name\b|constructor\b)\w+\??[(:]/.test(line)
    if (!isShown || !isMember) return false
    members += 1
    return !lines[index - 1]?.endsWith('*/')
  })
  assert(members > 120 && agree.length > 10, `${members} members`)
  assert.deepEqual(wordless, [])
})
