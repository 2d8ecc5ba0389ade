// An OpenID Connect client: discovery, authorization code with PKCE, state and nonce, and an ID token verified with
// the provider's keys.
import type * as openid from 'openid-client'
import type { OpenIdClaims, OpenIdClient } from '../runtime/outside/openid.ts'
import { describe, readable } from './failure.ts'

export interface OpenIdProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** In addition to the scopes that are always requested. */
  readonly scopes: readonly string[]
  /** Undefined if the provider sends no roles. */
  readonly roleClaim: string | undefined
  readonly maxAgeSeconds: number
}

const timeoutSeconds = 10
const usualScopes = ['openid', 'email', 'profile']

/** Loaded on first use: the library takes 6 MB and 30 ms, and most gateways have no provider. */
const library = () => import('openid-client')

export function makeOpenIdClient(provider: OpenIdProvider): OpenIdClient {
  const { issuer, clientId, clientSecret, roleClaim, maxAgeSeconds: maxAge } = provider
  const scope = [...new Set([...usualScopes, ...provider.scopes])].join(' ')
  let discovered: Promise<openid.Configuration> | undefined

  /** Cached, and retried after a failure. */
  const discover = (): Promise<openid.Configuration> => {
    discovered ??= askProvider().catch((error: unknown) => {
      discovered = undefined
      throw error
    })
    return discovered
  }

  const askProvider = async (): Promise<openid.Configuration> => {
    const { discovery, enableNonRepudiationChecks, allowInsecureRequests } = await library()
    return discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: timeoutSeconds,
      execute: [
        // Verifies the token's signature even though it came over TLS.
        enableNonRepudiationChecks,
        // Settings allow http only in the sandbox.
        ...(issuer.startsWith('http:') ? [allowInsecureRequests] : []),
      ],
    })
  }

  return {
    async begin(redirectUri) {
      const configuration = await discover().catch(() => undefined)
      if (!configuration) return undefined
      const openid = await library()
      const flow = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      }
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope,
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
        max_age: String(maxAge),
      })
      return { url: url.href, flow }
    },

    async finish(returned, { state, nonce, verifier }) {
      const openid = await library()
      try {
        const configuration = await discover()
        const tokens = await openid.authorizationCodeGrant(configuration, returned, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
          maxAge,
        })
        const claims = tokens.claims()
        if (!claims) return { kind: 'refused', reason: 'the provider gave no ID token' }
        const more = await userInfo(configuration, tokens.access_token, claims.sub)
        return { kind: 'proven', claims: readClaims(claims, more, roleClaim) }
      } catch (error) {
        const reason = readable(describe(error))
        const isAnswer =
          error instanceof openid.ClientError ||
          error instanceof openid.AuthorizationResponseError ||
          error instanceof openid.ResponseBodyError
        return { kind: isAnswer && !isNetwork(error) ? 'refused' : 'unreachable', reason }
      }
    },
  }
}

/** Some providers return the email address and groups only here. */
async function userInfo(configuration: openid.Configuration, accessToken: string, subject: string) {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {}
  const { fetchUserInfo } = await library()
  return fetchUserInfo(configuration, accessToken, subject)
}

/** The library wraps network errors. */
function isNetwork(error: Error): boolean {
  return error.cause instanceof TypeError || (error.cause as Error | undefined)?.name === 'TimeoutError'
}

function readClaims(
  token: openid.IDToken,
  more: Partial<openid.UserInfoResponse>,
  roleClaim: string | undefined,
): OpenIdClaims {
  const claims = { ...more, ...token }
  // Both values come from one source: a verified flag of one address says nothing about another.
  const vouched = [token, more].find(
    (each) => each['email'] !== undefined && each['email_verified'] !== undefined,
  )
  const { email, email_verified: isVerified } = vouched ?? {}
  const given = roleClaim === undefined ? [] : claims[roleClaim]
  return {
    issuer: token.iss,
    subject: token.sub,
    email: typeof email === 'string' && isVerified === true ? email : undefined,
    groups: [given].flat().filter((group): group is string => typeof group === 'string'),
  }
}
