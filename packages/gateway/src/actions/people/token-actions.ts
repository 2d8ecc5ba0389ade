// Tokens of the admin API. There is no route of that API, because a leaked token must not create access that outlives
// it.
import assert from 'node:assert/strict'
import { mayAct } from '../../core/authority/rules/roles.ts'
import {
  type ApiToken,
  parseTokenName,
  scopeNames,
  scopes,
  tokenLimits,
} from '../../identity/operators/rules/api-token.ts'
import { type Action, defineAction, form } from '../action.ts'
import { displayed, integer, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { reason } from '../shared-fields.ts'

const tokenId = text('The token’s ID.', { max: 64 })
const token = {
  tokenId,
  login: text('The operator that the token acts for.', { max: 64 }),
  name: text('Its purpose.', { max: 32 }),
  expiresAtMs: timeMs('Time of expiry.'),
  lastUsedAtMs: optional(timeMs('When it was last used.')),
  scopes: list('Its scopes.', oneOf('A scope.', scopeNames)),
}
const page = '/account/tokens'

export const tokenActions: readonly Action[] = [
  defineAction({
    name: 'token.add',
    needs: 'viewer',
    summary: 'Create a token. It is shown only once',
    input: object('The token.', {
      name: displayed(text('The purpose, such as nightly-payouts.', { max: 32 }), {
        placeholder: 'nightly-report',
      }),
      login: optional(
        displayed(
          text('The operator that the token acts for. A token never exceeds that operator’s role.', {
            max: 64,
          }),
          {
            option: 'operator',
            only: 'command',
          },
        ),
      ),
      scopes: displayed(list('Only what the program needs.', oneOf('A scope.', scopeNames)), {
        choices: (role) =>
          scopeNames
            .filter((scope) => mayAct(role, scopes[scope].needs))
            .map((scope) => [scope, scopes[scope].meaning]),
      }),
      days: displayed(integer('Days until it expires.', { min: 1, max: tokenLimits.days }), {
        initial: String(tokenLimits.defaultDays),
      }),
      tokenHash: optional(
        displayed(text('The hash of the requester’s token.', { max: 64 }), { only: 'request' }),
      ),
    }),
    checks: { name: ({ name }) => void parseTokenName(String(name)) },
    answer: object('The token.', {
      ...token,
      token: optional(text('Shown only once, to its operator.', { max: 200 })),
    }),
    command: {
      arguments: ['name'],
      required: ['login'],
      omits: ['tokenHash'],
      help: `Scopes:\n${scopeNames.map((scope) => `  ${scope.padEnd(21)}${scopes[scope].needs.padEnd(10)}${scopes[scope].meaning}`).join('\n')}`,
    },
    form: {
      place: 'tokens',
      path: page,
      page,
      label: 'Create a token…',
      explains: 'The token is shown only once. Give it only the scopes that the program needs.',
      button: 'Create token',
      needsConfirmation: true,
    },
    // The confirmation counts only for the access that the token is made for.
    confirmsItself: true,
    async run({ operations, operator, context, input, confirm }) {
      const login = operator?.login ?? input.login
      assert(login !== undefined, 'the command line needs the operator’s login')
      const made = await operations.apiTokens.addToken(context, { ...input, login }, confirm)
      return { ...made.apiToken, ...(input.tokenHash === undefined && { token: made.token }) }
    },
    // A token acts as its operator, so an approver who saw it could act as two people.
    prepare({ operations }) {
      const { token, tokenHash } = operations.apiTokens.prepareToken()
      return { input: { tokenHash }, secrets: [['Token, once it is approved', token]] }
    },
    reply: ({ name, login, scopes: may, token: secret }) => ({
      text: `Token ${name} of ${login} was created with the scopes ${may.join(', ')}. Send it as "Authorization: Bearer …".`,
      ...(secret !== undefined && { secrets: [['Token', secret]] as const }),
      page,
    }),
  }),
  defineAction({
    name: 'token.list',
    needs: 'viewer',
    summary: 'List active tokens',
    input: object('The filter.', { login: optional(displayed(token.login, { option: 'operator' })) }),
    answer: object('All tokens.', { tokens: list('By operator.', object('A token.', token)) }),
    run: async ({ operations, context, input }) => ({
      tokens: await operations.apiTokens.listTokens(context, input.login?.toLowerCase()),
    }),
  }),
  defineAction({
    name: 'token.revoke',
    needs: 'viewer',
    summary: 'Revoke a token; takes effect with its next request',
    params: object('Which token.', { tokenId }),
    input: object('The reason.', { reason }),
    answer: object('The token.', { tokenId }),
    form: form<ApiToken>({
      place: 'token',
      path: `${page}/:tokenId/revoke`,
      page,
      label: 'Revoke…',
      explains: 'The token’s next request is rejected.',
      button: ({ name }) => `Revoke ${name}`,
      isDangerous: true,
    }),
    async run({ operations, operator, context, params, input }) {
      // Operators see their own tokens; admins and the command line see all.
      const login = operator && !mayAct(operator.role, 'admin') ? operator.login : undefined
      await operations.apiTokens.revokeToken(context, params.tokenId, {
        login,
        reason: input.reason,
      })
      return { tokenId: params.tokenId }
    },
    reply: () => ({ text: 'The token is revoked.' }),
  }),
]
