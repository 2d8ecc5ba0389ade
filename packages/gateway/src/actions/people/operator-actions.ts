// Operators of the console. There is no route of the admin API, because a leaked token must not create access that
// outlives it.
import { Failure } from '@tillgate/protocol'
import { roleMeanings, roles } from '../../core/authority/rules/roles.ts'
import { minPasswordLength } from '../../identity/accounts/rules/account.ts'
import { type Operator, parseOperatorLogin } from '../../identity/operators/rules/operator.ts'
import { type Action, type ActionCall, defineAction, form, type Reply } from '../action.ts'
import { displayed, list, object, oneOf, optional, text, timeMs, yesNo } from '../fields.ts'
import { reason } from '../shared-fields.ts'

const login = text('Letters, digits, dots, dashes and underscores.', { max: 64 })
const key = object('Which operator.', { login })
const role = displayed(oneOf('The role, which determines what the operator may do.', roles), {
  choices: roles.map((each) => [each, `${each}: ${roleMeanings[each]}`]),
})
const password = optional(
  displayed(text(`At least ${minPasswordLength} characters; generated if omitted.`, { max: 256 }), {
    option: 'password-file',
    kind: 'long',
    only: 'command',
  }),
)
const email = optional(
  displayed(
    text('The address at the identity provider, if the operator signs in there without a password.', {
      max: 254,
    }),
    { label: 'Identity provider email (optional)', placeholder: 'alice@example.com' },
  ),
)
const firstHalf = optional(
  displayed(text('The half of the generated password that the requester knows.', { max: 512 }), {
    only: 'request',
    label: 'First half of the password',
    shown: () => 'known to the requester',
  }),
)
const given = object('The operator.', {
  login,
  password: optional(text('Shown only once, if it was generated.', { max: 256 })),
})
const page = '/account'
const path = '/account/operators/:login'

export const operatorActions: readonly Action[] = [
  defineAction({
    name: 'operator.add',
    isRecovery: true,
    needs: 'admin',
    summary: 'Add an operator. The password is shown only once',
    input: object('The operator.', { login, role, email, password, firstHalf }),
    checks: { login: ({ login: written }) => void parseOperatorLogin(String(written)) },
    answer: given,
    command: { arguments: ['login'], omits: ['firstHalf'] },
    form: {
      place: 'operators',
      path: '/account/operators',
      page,
      label: 'Add an operator…',
      explains:
        'The password is generated and shown only once. Pass it to the recipient. With an email address there is no password: the operator signs in at the identity provider.',
      button: 'Add operator',
      needsConfirmation: true,
    },
    run: ({ operations, context, input }) => operations.operators.addOperator(context, input),
    prepare: (call) => (call.input.email === undefined ? prepareHalf(call, call.input.login) : undefined),
    reply: ({ login: name, password: secret }, { input }) => ({
      text: `Operator ${name} was added with the role ${input.role}.`,
      ...secretsOf(secret, input),
      page,
    }),
  }),
  defineAction({
    name: 'operator.list',
    needs: 'admin',
    summary: 'List operators',
    answer: object('All operators.', {
      operators: list(
        'By login.',
        object('An operator.', {
          login,
          role,
          status: oneOf('disabled: cannot sign in.', ['active', 'disabled']),
          email,
          passwordChangedAtMs: timeMs('When the password was set.'),
          hasSecondStep: yesNo('Whether the operator uses two-step verification.'),
        }),
      ),
    }),
    run: async ({ operations, context }) => ({
      operators: await operations.operators.listOperators(context),
    }),
  }),
  defineAction({
    name: 'operator.reset-password',
    isRecovery: true,
    needs: 'admin',
    summary: 'Reset an operator’s password; ends sessions, tokens and any lock',
    params: key,
    input: object('The reason.', { password, firstHalf, reason }),
    answer: given,
    command: { omits: ['firstHalf'] },
    form: form<Operator>({
      place: 'operator',
      path: `${path}/reset-password`,
      page,
      label: 'New password…',
      explains: ({ login: name }) =>
        `A new password is generated and shown only once. ${name} is signed out everywhere, and their API tokens are revoked.`,
      button: ({ login: name }) => `Reset the password of ${name}`,
      isOffered: (each, by) => each.login !== by.login && each.email === undefined,
      needsConfirmation: true,
    }),
    async run(call) {
      const name = othersLogin(call, 'Change your own password with your current one, or ask another admin.')
      return call.operations.operators.resetPassword(call.context, { ...call.input, login: name })
    },
    prepare: (call) => prepareHalf(call, call.params.login),
    reply: ({ login: name, password: secret }, { input }) => ({
      text: `Operator ${name} has a new password.`,
      ...secretsOf(secret, input),
      page,
    }),
  }),
  defineAction({
    name: 'operator.reset-totp',
    isRecovery: true,
    needs: 'admin',
    summary:
      'Reset two-step verification if the app and recovery codes are lost. Ends sessions and API tokens',
    params: key,
    input: object('The reason.', { reason }),
    answer: object('The operator.', { login, hasSecondStep: yesNo('Always false.') }),
    form: form<Operator>({
      place: 'operator',
      path: `${path}/reset-totp`,
      page,
      label: 'Reset two-step verification…',
      explains: ({ login: name }) =>
        `${name} is signed out everywhere, their API tokens are revoked, and they sign in with the password only until they set up two-step verification again. Use this if the app and recovery codes are lost. First confirm that the request comes from ${name}.`,
      button: ({ login: name }) => `Reset two-step verification of ${name}`,
      isDangerous: true,
      isOffered: (each, by) => each.hasSecondStep && each.login !== by.login,
      needsConfirmation: true,
    }),
    async run(call) {
      const { operations, context, input } = call
      const name = othersLogin(
        call,
        'Disable your own two-step verification with a code, or ask another admin.',
      )
      await operations.operatorAccounts.secondStep.reset(context, name, input.reason)
      return { login: name, hasSecondStep: false }
    },
    reply: ({ login: name }) => ({
      text: `Operator ${name} is signed out everywhere and now signs in with the password only.`,
    }),
  }),
  ...(['disable', 'enable'] as const).map((verb) =>
    defineAction({
      name: `operator.${verb}`,
      isRecovery: true,
      needs: 'admin',
      summary:
        verb === 'disable'
          ? 'Disable an operator: end all sessions and revoke the API tokens'
          : 'Enable an operator. API tokens stay revoked',
      params: key,
      input: object('The reason.', { reason }),
      answer: object('The operator.', { login, status: text('The new status.', { max: 16 }) }),
      form: form<Operator>({
        place: 'operator',
        path: `${path}/${verb}`,
        page,
        label: verb === 'disable' ? 'Disable…' : 'Enable…',
        explains: ({ login: name }) =>
          verb === 'disable'
            ? `${name} is signed out everywhere, their API tokens are revoked, and they cannot sign in again until enabled.`
            : `${name} can sign in again with the previous password. API tokens stay revoked.`,
        button: ({ login: name }) => `${verb === 'disable' ? 'Disable' : 'Enable'} ${name}`,
        ...(verb === 'disable' ? { isDangerous: true } : { needsConfirmation: true }),
        isOffered: ({ status }) => (status === 'active') === (verb === 'disable'),
      }),
      async run({ operations, context, params, input }) {
        await operations.operators[`${verb}Operator`](context, params.login, input.reason)
        return { login: params.login, status: verb === 'disable' ? 'disabled' : 'active' }
      },
      reply: ({ login: name }) => ({ text: `Operator ${name} is ${verb}d.` }),
    }),
  ),
]

/**
 * Requester and approver each hand over half of the password, because one who saw all of it could sign in as a second
 * operator.
 */
function prepareHalf({ operations }: Pick<ActionCall, 'operations'>, login: string) {
  const { half, sealedHalf } = operations.operators.makeFirstHalf(login)
  return {
    input: { firstHalf: sealedHalf },
    secrets: [[`First half of the password of ${login}, followed by a dash and the approver’s half`, half]],
  } as const
}

function secretsOf(
  secret: string | undefined,
  input: { readonly firstHalf?: string },
): Pick<Reply, 'secrets'> {
  if (secret === undefined) return {}
  return { secrets: [[input.firstHalf === undefined ? 'Password' : 'Second half of the password', secret]] }
}

/**
 * The login, as stored, of the operator whose password or second step is reset. Never the caller's own: a person at an
 * unlocked screen must not be able to take over the account.
 */
function othersLogin({ operator, params }: ActionCall<{ login: string }>, whatInstead: string): string {
  const name = parseOperatorLogin(params.login)
  if (name === operator?.login) throw new Failure('not_allowed', { message: whatInstead })
  return name
}
