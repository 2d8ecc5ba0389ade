// The one way in which an adapter runs an action. The action runs with the authority of the person behind it; where a
// change in it needs a second operator, the transaction is rolled back and the action becomes a request that waits.
import { Failure } from '@tillgate/protocol'
import type { ApprovalRequest } from '../../core/audit/rules/approval.ts'
import { ApprovalNeeded, type Authority } from '../../core/audit/rules/authority.ts'
import { mayAct } from '../../core/audit/rules/roles.ts'
import { checkScope } from '../../identity/operators/rules/api-token.ts'
import type { Action, ActionCall } from '../action.ts'
import { fieldsOf, titleOf } from './describe-fields.ts'

export type Ran =
  | { readonly kind: 'done'; readonly answer: unknown }
  | { readonly kind: 'waiting'; readonly request: ApprovalRequest }

export type Calling = Omit<ActionCall, 'authority'> & Pick<Partial<ActionCall>, 'authority'>

export async function runAction(action: Action, calling: Calling): Promise<Ran> {
  const call = { ...calling, authority: calling.authority ?? authorityOf(action, calling) }
  const { operator, token, actId, service } = call
  if (operator && !mayAct(operator.role, action.needs))
    throw new Failure('not_allowed', {
      message: `This needs the role ${action.needs}; yours is ${operator.role}.`,
    })
  if (operator && token) checkScope(action.scope, token, operator)
  const isAsking = operator !== undefined && action.effects.length > 0
  const sent = isAsking && actId !== undefined ? await service.approvals.findSent(actId) : undefined
  if (sent) return { kind: 'waiting', request: sent }
  try {
    return { kind: 'done', answer: await action.run(bound(call)) }
  } catch (error) {
    if (!(error instanceof ApprovalNeeded) || !isAsking) throw error
    return { kind: 'waiting', request: await ask(action, call, operator.login) }
  }
}

/** The name under which an action calls operations stands for the caller, with the caller's authority. */
function bound(call: ActionCall): ActionCall {
  const { service, actor, authority } = call
  return {
    ...call,
    service: { ...service, as: (by) => service.as(by === actor ? { actor, authority } : by) },
  }
}

function authorityOf(action: Action, { service, operator, member, token, portalRoles }: Calling): Authority {
  const policy = service.approvalPolicy
  if (operator)
    return {
      kind: 'operator',
      login: operator.login,
      needs: action.needs,
      accessVersion: operator.accessVersion,
      tokenId: token?.tokenId,
      policy,
      approval: undefined,
    }
  if (member)
    return {
      kind: 'member',
      login: member.login,
      merchantId: member.merchantId,
      roles: portalRoles ?? [],
      policy,
    }
  return { kind: 'machine', policy, isRecovery: action.isRecovery }
}

async function ask(action: Action, call: ActionCall, requestedBy: string): Promise<ApprovalRequest> {
  const { service, actor, actId } = call
  // Safe, both: an action's parameters and input are objects of its schemas.
  const params = (call.params ?? {}) as Record<string, unknown>
  const input = {
    ...(call.input as Record<string, unknown> | undefined),
    ...(await action.pin?.(bound(call))),
  }
  const { merchantId } = { ...params, ...input } as { merchantId?: string }
  return service.approvals.ask({
    action: action.name,
    params,
    input,
    summary: summaryOf(action, { params, input }),
    merchantId,
    reason: reasonOf(action, input),
    requestedBy,
    requestedAs: actor,
    authority: call.authority,
    actId,
  })
}

/** As people read it in the audit, in emails and in lists. */
export function summaryOf(action: Action, given: { params: object; input: object }): string {
  const fields = fieldsOf(action, given).map(({ label, value }) => `${label.toLowerCase()} ${value}`)
  return `${titleOf(action)}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`
}

function reasonOf({ input: schema }: Action, { reason }: Readonly<Record<string, unknown>>): string {
  if (typeof reason === 'string') return reason
  if (schema && 'reason' in schema.properties)
    throw new Failure('invalid_field', {
      field: 'reason',
      message: 'Enter a reason: a second operator decides about this action.',
    })
  return ''
}
