// Signing in at an identity provider by OpenID Connect: what is kept in the browser meanwhile, and what the provider says.

/** Kept sealed in the browser that began, so that nobody can finish what another began. */
export interface OpenIdFlow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface OpenIdClaims {
  readonly issuer: string
  readonly subject: string
  /** Only where the provider vouches for it. */
  readonly email: string | undefined
  /** Of the claim that tells roles. */
  readonly groups: readonly string[]
}

export type OpenIdOutcome =
  | { readonly kind: 'proven'; readonly claims: OpenIdClaims }
  /** Not what we asked for: another's answer, an old one, or one that is not for us. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly reason: string }

export interface OpenIdClient {
  /** Where to send the browser; undefined: the provider cannot be reached. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly flow: OpenIdFlow } | undefined>
  /** `returned`: the whole address that the browser came back to. Never rejects for what the provider did. */
  finish(returned: URL, flow: OpenIdFlow): Promise<OpenIdOutcome>
}
