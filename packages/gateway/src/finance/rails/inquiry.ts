// What came of asking a rail about one thing: its answer and what is decided by it, or a failure; and every call that was
// made on the way.

import type { RailCall } from '../../core/orders/payments/rules/rail-task.ts'
import type { RailReply } from './rail-client.ts'
import type { DecisionIds } from './rules/attempt.ts'
import type { Decided } from './store/rail-outcomes.ts'

export type Asked<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly calls: readonly RailCall[] }
  | { readonly kind: 'failed'; readonly failure: string; readonly calls: readonly RailCall[] }

export interface DecidedForNow extends Decided {
  /** When to ask again, where it is not over. */
  readonly dueAtMs: number
}

export type Inquiry =
  | {
      readonly kind: 'answered'
      readonly calls: readonly RailCall[]
      /** On what was there when it was asked; again, where somebody changed it meanwhile, on what is there now. */
      readonly decide: (ids: DecisionIds, isAgain: boolean) => Promise<DecidedForNow>
    }
  | { readonly kind: 'failed'; readonly failure: string; readonly calls: readonly RailCall[] }

export function withCalls<Answer>(reply: RailReply<Answer>, before: readonly RailCall[]): Asked<Answer> {
  const calls = [...before, reply.call]
  return reply.kind === 'answered'
    ? { kind: 'answered', answer: reply.answer, calls }
    : { kind: 'failed', failure: reply.failure, calls }
}

/** The same reply, or a failure where the answer contradicts what is known. */
export function believed<Answer>(
  reply: RailReply<Answer>,
  whyNot: (answer: Answer) => string | undefined,
): RailReply<Answer> {
  const failure = reply.kind === 'answered' ? whyNot(reply.answer) : undefined
  if (failure === undefined) return reply
  return { kind: 'failed', failure, call: { ...reply.call, outcome: 'failed', detail: failure } }
}
