// Actions of the catalog, run as an operator would run them through an adapter, over a test's operations.
import assert from 'node:assert/strict'
import type { Action, GivenFile } from '../../src/actions/action.ts'
import { findAction } from '../../src/actions/catalog.ts'
import { type Ran, runAction } from '../../src/actions/running/run-action.ts'
import type { Stores } from '../../src/app/database/stores.ts'
import type { Operations } from '../../src/app/operations.ts'
import type { Config } from '../../src/app/settings/config.ts'
import type { ApiToken } from '../../src/identity/operators/rules/api-token.ts'
import type { Operator } from '../../src/identity/operators/rules/operator.ts'
import type { Clock } from '../../src/platform/runtime/clock.ts'

interface Given {
  readonly params?: Record<string, unknown>
  readonly input?: Record<string, unknown>
  readonly idempotencyKey?: string
  readonly file?: GivenFile
  /** Of the admin API. */
  readonly token?: ApiToken
}

/** A login, or an operator as of an earlier moment. */
type By = string | Operator

export type TestActions = ReturnType<typeof testActions>

export function testActions(parts: {
  readonly stores: Stores
  readonly operations: Operations
  readonly clock: Clock
  readonly config?: Config
}) {
  const { stores, clock } = parts
  const { approvalPolicy } = parts.operations
  const operations = { ...parts.operations, approvalPolicy: parts.config?.approvals ?? approvalPolicy }

  const run = async (by: By, action: string | Action, given: Given = {}): Promise<Ran> => {
    const { input, ...rest } = given
    const act = typeof action === 'string' ? findAction(action) : action
    const operator = typeof by === 'string' ? await stores.operators.findOperator(by) : by
    assert(act && operator, `${nameOf(action)} by ${typeof by === 'string' ? by : by.login}`)
    return runAction(act, {
      params: undefined,
      idempotencyKey: undefined,
      ...rest,
      operations,
      operator,
      actor: `console:${operator.login}@127.0.0.1`,
      nowMs: clock.now(),
      input: act.input && { ...('reason' in act.input.properties && { reason: 'because' }), ...input },
    })
  }

  return {
    operations,
    run,

    /** Runs it, and fails unless it was done at once. */
    async done(by: By, name: string | Action, given?: Given): Promise<Record<string, unknown>> {
      const ran = await run(by, name, given)
      assert(ran.kind === 'done', `${nameOf(name)} waits`)
      return ran.answer as Record<string, unknown>
    },

    /** Runs it, and fails unless it waits. The request's id. */
    async asked(by: By, name: string | Action, given?: Given): Promise<string> {
      const ran = await run(by, name, given)
      assert(ran.kind === 'waiting', `${nameOf(name)} was done at once`)
      return ran.request.approvalId
    },

    /** Approves a request, and returns what its action answered. */
    async approve(login: string, approvalId: string): Promise<Record<string, unknown>> {
      const ran = await run(login, 'approval.approve', { params: { approvalId }, input: { reason: 'yes' } })
      assert(ran.kind === 'done')
      return (ran.answer as { result?: Record<string, unknown> }).result ?? {}
    },

    reject: (login: string, approvalId: string) =>
      run(login, 'approval.reject', { params: { approvalId }, input: { reason: 'no' } }),
  }
}

function nameOf(action: string | Action): string {
  return typeof action === 'string' ? action : action.name
}
