// People of a merchant in browsers without pictures: they join by a link, as anybody does.

import assert from 'node:assert/strict'
import type { MemberRole } from '../../src/core/authority/rules/roles.ts'
import { actingAs } from './acting.ts'
import { ConsoleClient } from './console.ts'
import type { TestGateway } from './gateway.ts'

export const memberPassword = 'a password of a member'

export class PortalClient extends ConsoleClient {
  constructor(gateway: Pick<TestGateway, 'url'>) {
    super({ adminUrl: gateway.url })
  }

  async join(link: string | undefined, password = memberPassword): Promise<void> {
    const { pathname } = new URL(link ?? '')
    const joined = await this.post(pathname, { password, again: password }, { on: pathname })
    // The first member of a merchant without an AES key is shown one.
    assert.ok([200, 303].includes(joined.status), joined.text)
  }

  override signIn(email: string, password = memberPassword) {
    return this.post('/merchant/sign-in', { email, password }, { on: '/merchant/sign-in' })
  }
}

let people = 0

/** A new member of this role, signed in. */
export async function memberOf(
  gateway: TestGateway,
  merchantId: string,
  role: MemberRole,
): Promise<{ readonly client: PortalClient; readonly email: string }> {
  const email = `${role}-${++people}@shop.example`
  const { link } = await actingAs(gateway.operations, 'test').members.inviteMember({
    merchantId,
    email,
    role,
  })
  const client = new PortalClient(gateway)
  await client.join(link)
  return { client, email }
}
