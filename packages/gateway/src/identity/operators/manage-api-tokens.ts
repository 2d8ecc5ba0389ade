// Tokens of the admin API: created for an operator, shown once, found by their hash, revoked at once.
import { createHash } from 'node:crypto'
import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import {
  type ApiToken,
  isTokenText,
  makeTokenText,
  parseScopes,
  parseTokenDays,
  parseTokenName,
  tokenLimits,
} from './rules/api-token.ts'
import { noActiveOperator, normaliseOperatorLogin, type Operator } from './rules/operator.ts'
import type { ApiTokenStore, KnownToken } from './store/api-tokens.ts'
import type { OperatorStore } from './store/operators.ts'

export interface ManageTokensParts extends ClockAndRandom {
  readonly tokens: ApiTokenStore
  readonly operators: Pick<OperatorStore, 'findOperator'>
}

export interface MadeToken {
  readonly apiToken: ApiToken
  /** Shown once. */
  readonly token: string
}

export type ManageTokens = ReturnType<typeof makeManageTokens>

const dayMs = 24 * 60 * 60 * 1000
/** The precision of the last-used time. */
const touchEveryMs = 60_000

export function makeManageTokens({ tokens, operators, clock, random }: ManageTokensParts) {
  const find = async (login: string): Promise<Operator> => {
    const known = normaliseOperatorLogin(login)
    const operator = known === undefined ? undefined : await operators.findOperator(known)
    if (operator?.status === 'active') return operator
    throw noActiveOperator(login)
  }

  return {
    /** For a token that waits for approval. Its operator gets the token; the request stores its hash in hexadecimal. */
    prepareToken() {
      const token = makeTokenText(random)
      return { token, tokenHash: hashOf(token).toString('hex') }
    },

    /**
     * `confirm` throws unless the operator confirms again; it is called when everything else is valid. With the hash of a
     * prepared token, that token is added and no other is returned.
     */
    async addToken(
      context: AnyContext,
      given: {
        login: string
        name: string
        scopes: readonly string[]
        days: number
        tokenHash?: string | undefined
      },
      confirm?: () => Promise<void>,
    ): Promise<MadeToken> {
      const operator = await find(given.login)
      const nowMs = clock.now()
      const apiToken: ApiToken = {
        tokenId: makeUuid(nowMs, random),
        login: operator.login,
        name: parseTokenName(given.name),
        scopes: parseScopes(given.scopes, operator),
        createdAtMs: nowMs,
        expiresAtMs: nowMs + parseTokenDays(given.days) * dayMs,
        lastUsedAtMs: undefined,
        lastUsedFrom: undefined,
        revokedAtMs: undefined,
      }
      await confirm?.()
      const token = makeTokenText(random)
      const inserted = await tokens.insertToken(
        {
          ...apiToken,
          accessVersion: operator.accessVersion,
          tokenHash: given.tokenHash === undefined ? hashOf(token) : Buffer.from(given.tokenHash, 'hex'),
          maxLive: tokenLimits.perOperator,
        },
        makeAuditEntry({ clock, random }, context, 'token.add', apiToken.tokenId, {
          reason: `${apiToken.name} for ${operator.login}: ${apiToken.scopes.join(' ')}`,
        }),
      )
      if (!inserted)
        throw new Failure('status_does_not_allow', {
          message: `${operator.login} has ${tokenLimits.perOperator} active tokens already. Revoke one first.`,
        })
      return { apiToken, token }
    },

    /** Lists the tokens of one operator, or all tokens. */
    listTokens: (_context: AnyContext, login?: string) => tokens.listTokens(login, clock.now()),

    /** The token is invalid from the next request on. `login`: only if the token belongs to it. */
    async revokeToken(
      context: AnyContext,
      tokenId: string,
      { login, reason }: { readonly login: string | undefined; readonly reason: string },
    ): Promise<void> {
      const isRevoked =
        uuidPattern.test(tokenId) &&
        (await tokens.revokeToken(
          { tokenId, login, nowMs: clock.now() },
          makeAuditEntry({ clock, random }, context, 'token.revoke', tokenId, { reason }),
        ))
      if (!isRevoked) throw new Failure('not_found', { message: `Active token ${tokenId} does not exist.` })
    },

    /** Undefined if the token is unknown, expired or revoked, or its operator is disabled. */
    async findToken(token: string, from: string): Promise<KnownToken | undefined> {
      if (!isTokenText(token)) return undefined
      const nowMs = clock.now()
      const found = await tokens.findToken(hashOf(token), nowMs)
      if (found && nowMs - (found.token.lastUsedAtMs ?? 0) >= touchEveryMs)
        await tokens.touchToken({ tokenId: found.token.tokenId, nowMs, from })
      return found
    },
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
