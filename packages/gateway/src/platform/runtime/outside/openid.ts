// Sign-in at an identity provider by OpenID Connect: the state kept in the browser, and the result.

/** Kept sealed in the browser that started the sign-in, so that no other browser can finish it. */
export interface OpenIdFlow {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface OpenIdClaims {
  readonly issuer: string
  readonly subject: string
  /** Only if the provider has verified it. */
  readonly email: string | undefined
  readonly groups: readonly string[]
}

export type OpenIdOutcome =
  | { readonly kind: 'proven'; readonly claims: OpenIdClaims }
  /** The response belongs to another request, has expired, or is not for this gateway. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly reason: string }

export interface OpenIdClient {
  /** Resolves with undefined if the provider cannot be reached. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly flow: OpenIdFlow } | undefined>
  /** `returned` is the full address to which the browser returned. Never rejects because of the provider. */
  finish(returned: URL, flow: OpenIdFlow): Promise<OpenIdOutcome>
}
