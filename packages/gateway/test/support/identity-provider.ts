// A real OpenID provider in this process. Whoever comes is signed in as the person that the test says, without a page.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import Provider from 'oidc-provider'

export interface Person {
  readonly sub: string
  readonly email: string
  readonly isVerified?: boolean
  /** Another address in the ID token, of which it does not say whether it is verified. */
  readonly emailInToken?: string
  readonly groups?: readonly string[]
  /** When they proved there who they are, by the provider's own session. */
  readonly provedSecondsAgo?: number
}

export const clientId = 'tillgate'
export const clientSecret = 'a secret of the provider for tests'

export interface TestProvider {
  readonly issuer: string
  /** Who is at the browser. */
  person: Person
  /** Bends the answer of the token endpoint. */
  bend: (answer: Record<string, unknown>) => Record<string, unknown>
  /** Takes a browser from the authorization address to the address that it is sent back to. */
  follow(url: string): Promise<string>
}

export interface ProviderOptions {
  /** The scope with which it sends groups. */
  readonly groupsScope?: string
}

export async function startIdentityProvider(
  redirectUris: readonly string[],
  { groupsScope = 'profile' }: ProviderOptions = {},
): Promise<TestProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const test: TestProvider = {
    issuer,
    person: { sub: 'ann', email: 'ann@example.com' },
    bend: (answer) => answer,
    follow: (url) => follow(url, issuer),
  }
  const provider = new Provider(issuer, {
    clients: [
      { client_id: clientId, client_secret: clientSecret, redirect_uris: [...redirectUris] },
      { client_id: 'another', client_secret: clientSecret, redirect_uris: [...redirectUris] },
    ],
    pkce: { required: () => true },
    cookies: { keys: ['cookies of the provider for tests'] },
    features: { devInteractions: { enabled: false } },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: [], [groupsScope]: ['groups'] },
    conformIdTokenClaims: false,
    ttl: { AuthorizationCode: 60, AccessToken: 60, IdToken: 60, Grant: 60, Session: 60, Interaction: 60 },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: (use) => {
        const { email, isVerified = true, emailInToken, groups } = test.person
        if (use === 'id_token' && emailInToken !== undefined) return { sub, email: emailInToken, groups }
        return { sub, email, email_verified: isVerified, groups }
      },
    }),
    async loadExistingGrant(context) {
      const { client, session } = context.oidc
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId,
        accountId: session?.accountId,
      })
      grant.addOIDCScope(`openid email profile ${groupsScope}`)
      await grant.save()
      return grant
    },
  })
  // Its own words on stderr are no news here.
  provider.on('server_error', () => {})
  const answer = provider.callback()
  server.on('request', (request, reply) => {
    if (request.url?.startsWith('/interaction/')) {
      const { sub: accountId, provedSecondsAgo = 0 } = test.person
      const ts = Math.floor(Date.now() / 1000) - provedSecondsAgo
      void provider.interactionFinished(request, reply, { login: { accountId, ts } })
      return
    }
    if (request.url === '/token') {
      const end = reply.end.bind(reply)
      reply.end = ((body: unknown) => {
        const text = String(body)
        const bent = reply.statusCode === 200 ? JSON.stringify(test.bend(JSON.parse(text))) : text
        reply.setHeader('content-length', Buffer.byteLength(bent))
        return end(bent)
      }) as typeof reply.end
    }
    void answer(request, reply)
  })
  return test
}

/** A browser with nothing but cookies of the provider. */
async function follow(from: string, issuer: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = from
  while (url.startsWith(issuer)) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = response.headers.get('location')
    if (location === null)
      throw new Error(`the provider answered ${response.status}: ${await response.text()}`)
    url = new URL(location, url).href
  }
  return url
}

/** What a browser does at a door that leads to the provider and back. */
export interface ProviderDoor<Client> {
  readonly open: () => Client
  /** The address at the provider. */
  readonly begin: (client: Client) => Promise<string>
  readonly finish: (client: Client, at: string) => Promise<unknown>
  readonly isSignedIn: (client: Client) => Promise<boolean>
}

/** Neither a session that was in the browser before nor the answer to another tab is what comes in. */
export async function assertNothingPlantedComesIn<Client extends { readonly cookies: Map<string, string> }>(
  cookie: string,
  { open, begin, finish, isSignedIn }: ProviderDoor<Client>,
): Promise<void> {
  const planted = 'A'.repeat(43)
  const client = open()
  client.cookies.set(cookie, planted)
  const first = await begin(client)
  const second = await begin(client)
  // The tab that began first has an answer that the browser does not wait for any more.
  await finish(client, first)
  assert.equal(await isSignedIn(client), false)
  const third = await begin(client)
  assert.notEqual(new URL(second).searchParams.get('state'), new URL(third).searchParams.get('state'))
  await finish(client, third)
  assert.equal(await isSignedIn(client), true)
  assert.notEqual(client.cookies.get(cookie), planted)
  const thief = open()
  thief.cookies.set(cookie, planted)
  assert.equal(await isSignedIn(thief), false)
}
