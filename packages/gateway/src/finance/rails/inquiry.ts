// The result of asking a rail: a response with the decision that follows, or a failure; and all calls made.

import type { RailCall } from '../../core/orders/payments/rules/rail-task.ts'
import type { RailReply } from './rail-client.ts'
import type { DecisionIds } from './rules/attempt.ts'
import type { Decided } from './store/rail-outcomes.ts'

export type Asked<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly calls: readonly RailCall[] }
  | { readonly kind: 'failed'; readonly failure: string; readonly calls: readonly RailCall[] }

export interface DecidedForNow extends Decided {
  /** When to ask again, if it has not ended. */
  readonly dueAtMs: number
}

export type Inquiry =
  | {
      readonly kind: 'answered'
      readonly calls: readonly RailCall[]
      /** Decides on the loaded state; on a second call, on the state after a concurrent change. */
      readonly decide: (ids: DecisionIds, isAgain: boolean) => Promise<DecidedForNow>
    }
  | { readonly kind: 'failed'; readonly failure: string; readonly calls: readonly RailCall[] }

export function withCalls<Answer>(reply: RailReply<Answer>, before: readonly RailCall[]): Asked<Answer> {
  const calls = [...before, reply.call]
  return reply.kind === 'answered'
    ? { kind: 'answered', answer: reply.answer, calls }
    : { kind: 'failed', failure: reply.failure, calls }
}

/** Turns a response that contradicts known facts into a failure. */
export function believed<Answer>(
  reply: RailReply<Answer>,
  whyNot: (answer: Answer) => string | undefined,
): RailReply<Answer> {
  const failure = reply.kind === 'answered' ? whyNot(reply.answer) : undefined
  if (failure === undefined) return reply
  return { kind: 'failed', failure, call: { ...reply.call, outcome: 'failed', detail: failure } }
}
