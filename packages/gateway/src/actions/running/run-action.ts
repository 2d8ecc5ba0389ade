// The one way in which adapters run an action. It runs with the authority of the caller. If a change in it needs a
// second operator, the transaction is rolled back and the action becomes a request that waits.
import assert from 'node:assert/strict'
import { Failure } from '@tillgate/protocol'
import { reachingAll } from '../../core/authority/context.ts'
import type { ApprovalRequest } from '../../core/authority/rules/approval.ts'
import { ApprovalNeeded, type Authority } from '../../core/authority/rules/authority.ts'
import { type MemberRole, mayAct } from '../../core/authority/rules/roles.ts'
import type { Member } from '../../identity/members/rules/member.ts'
import { checkScope } from '../../identity/operators/rules/api-token.ts'
import type { Action, ActionCall, Reply, SharedCall } from '../action.ts'
import { fieldsOf, titleOf } from './describe-fields.ts'

export type Ran =
  | { readonly kind: 'done'; readonly answer: unknown }
  | {
      readonly kind: 'waiting'
      readonly request: ApprovalRequest
      /** Shown to the requester once. */
      readonly secrets?: Reply['secrets']
    }

/** A call as an adapter describes it; the context follows from the caller. */
export interface Calling extends Omit<ActionCall, 'context'> {
  /** The actor as written in the audit log. */
  readonly actor: string
}

export async function runAction(action: Action, { actor, ...calling }: Calling): Promise<Ran> {
  const { operator, token, idempotencyKey, operations } = calling
  const call = { ...calling, context: reachingAll({ actor, authority: authorityOf(action, calling) }) }
  if (operator && !mayAct(operator.role, action.needs))
    throw new Failure('not_allowed', {
      message: `This needs the role ${action.needs}; yours is ${operator.role}.`,
    })
  if (operator && token) checkScope(action.scope, token, operator)
  const isAsking = operator !== undefined && action.effects.length > 0
  const sent =
    isAsking && idempotencyKey !== undefined ? await operations.approvals.findSent(idempotencyKey) : undefined
  if (sent) return { kind: 'waiting', request: sent }
  try {
    return { kind: 'done', answer: await action.run(call) }
  } catch (error) {
    if (!(error instanceof ApprovalNeeded) || !isAsking) throw error
    const prepared = action.prepare?.(call)
    const request = await ask(action, call, { requestedBy: operator.login, prepared: prepared?.input })
    return { kind: 'waiting', request, secrets: prepared?.secrets }
  }
}

interface MemberCalling extends Omit<SharedCall, 'context' | 'operator'> {
  readonly actor: string
  readonly member: Member
  /** The member roles that may run it. */
  readonly roles: readonly MemberRole[]
}

/** Runs it within the member's merchant. Members never request approval. */
export async function runForMember(
  { runForMember: run, name }: Action,
  { actor, member: { login, merchantId }, roles, ...calling }: MemberCalling,
): Promise<unknown> {
  assert(run, `${name} is no action of members`)
  const policy = calling.operations.approvalPolicy
  const authority = { kind: 'member', login, merchantId, roles, policy } as const
  return run({ ...calling, operator: undefined, context: { actor, authority, merchantId } })
}

function authorityOf(action: Action, { operations, operator, token }: Omit<Calling, 'actor'>): Authority {
  const policy = operations.approvalPolicy
  if (!operator) return { kind: 'machine', policy, isRecovery: action.isRecovery }
  const { login, accessVersion } = operator
  const { tokenId } = token ?? { tokenId: undefined }
  return { kind: 'operator', login, needs: action.needs, accessVersion, tokenId, policy, approval: undefined }
}

async function ask(
  action: Action,
  call: ActionCall,
  { requestedBy, prepared }: { readonly requestedBy: string; readonly prepared: object | undefined },
): Promise<ApprovalRequest> {
  const { operations, context, idempotencyKey } = call
  const pinned = Object.entries((await action.pin?.(call)) ?? {})
  const isParam = ([name]: readonly [string, unknown]) => name in (action.params?.properties ?? {})
  // Safe, both: an action's parameters and input are objects of its schemas.
  const params = {
    ...(call.params as Record<string, unknown> | undefined),
    ...Object.fromEntries(pinned.filter(isParam)),
  }
  const input = {
    ...(call.input as Record<string, unknown> | undefined),
    ...Object.fromEntries(pinned.filter((each) => !isParam(each))),
    ...prepared,
  }
  const { merchantId } = { ...params, ...input } as { merchantId?: string }
  return operations.approvals.ask({
    action: action.name,
    params,
    input,
    summary: summaryOf(action, { params, input }),
    merchantId,
    reason: reasonOf(action, input),
    requestedBy,
    requestedAs: context.actor,
    authority: context.authority,
    idempotencyKey,
  })
}

/** The summary in the audit log, in emails and in lists. */
export function summaryOf(action: Action, given: { params: object; input: object }): string {
  const fields = fieldsOf(action, given).map(({ label, value }) => `${label.toLowerCase()} ${value}`)
  return `${titleOf(action)}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`
}

function reasonOf({ input: schema }: Action, { reason }: Readonly<Record<string, unknown>>): string {
  if (typeof reason === 'string') return reason
  if (schema && 'reason' in schema.properties)
    throw new Failure('invalid_field', {
      field: 'reason',
      message: 'Enter a reason. This action requires a second operator’s approval.',
    })
  return ''
}
