// One-time links by mail: they reach the address and nobody else, and asking for one tells nobody whose address is known.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway } from '../support/gateway.ts'
import { hashesDuring } from '../support/hashes.ts'
import { startMailServer, textOf } from '../support/mail-server.ts'
import { PortalClient, memberPassword as password } from '../support/portal.ts'

const mail = await startMailServer()
const gateway = await startTestGateway({
  environment: { SMTP_URL: mail.url, SMTP_FROM: 'no-reply@pay.test', OPERATOR_NAME: 'Example Pay' },
})
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
const { members } = actingAs(gateway.operations, 'test')
const email = 'ann@tea.example'

/** The newest link that came to the address. */
async function linkFor(to: string, kind: 'join' | 'recover'): Promise<string> {
  let link: string | undefined
  await until(() => {
    const mailed = mail.received.findLast((each) => each.to === to)
    const plain = mailed && textOf(mailed.raw)
    link = new RegExp(`http://[^\\s"<]*/merchant/${kind}/[\\w-]{43}`).exec(plain ?? '')?.[0]
    return link !== undefined
  })
  return link ?? ''
}

test('an invitation goes by mail, is shown to nobody else, and lets its reader in', async () => {
  const invited = await members.inviteMember({ merchantId, email, role: 'owner' })
  assert.equal(invited.link, undefined)
  const client = new PortalClient(gateway)
  await client.join(await linkFor(email, 'join'))
  const { raw = '' } = mail.received.find((each) => each.to === email) ?? {}
  assert.match(raw, /^From: Example Pay <no-reply@pay\.test>/m)
  assert.match(textOf(raw), /Example Pay invited you to join Tea House/)
  assert.equal((await client.get('/merchant')).status, 200)
  const path = '/merchant/members/invite'
  const sent = await client.post(path, { email: 'bob@tea.example', role: 'viewer', password }, { on: path })
  assert.equal(sent.location, '/merchant/members')
  assert.ok(!sent.text.includes('/merchant/join/'))
  await linkFor('bob@tea.example', 'join')
})

test('whoever forgot the password gets a link; an address that nobody has is answered the same, and gets none', async () => {
  const client = new PortalClient(gateway)
  const answers = []
  for (const each of [email, 'nobody@tea.example', 'no address']) {
    const { status, location } = await client.post(
      '/merchant/forgotten',
      { email: each },
      { on: '/merchant/forgotten' },
    )
    const { text } = await client.get(location ?? '')
    answers.push(`${status} ${location} ${/class="flash good".*?<p>([^<]*)/s.exec(text)?.[1]}`)
  }
  assert.equal(new Set(answers).size, 1, answers.join('\n'))
  const { pathname } = new URL(await linkFor(email, 'recover'))
  const changed = await client.post(
    pathname,
    { password: 'another password', again: 'another password' },
    { on: pathname },
  )
  assert.equal(changed.location, '/merchant/sign-in')
  assert.equal((await client.signIn(email, 'another password')).status, 303)
  assert.ok(!mail.received.some(({ to }) => to === 'nobody@tea.example'))
})

test('who asks again and again sends one mail in five minutes, and the link in it stays good', async () => {
  const links = () =>
    mail.received.filter(({ to, raw }) => to === email && textOf(raw).includes('/recover/')).length
  const before = links()
  await members.askRecovery(email)
  await until(() => links() > before)
  const link = await linkFor(email, 'recover')
  await members.askRecovery(email)
  const { rows } = await gateway.pool.query(
    "select from member_links where kind = 'recovery' and used_at is null",
  )
  assert.equal(rows.length, 1)
  assert.equal((await new PortalClient(gateway).get(new URL(link).pathname)).status, 200)
  assert.equal(links(), before + 1)
})

test('who asks many times at once sends one mail', async () => {
  const busy = 'busy@tea.example'
  await members.inviteMember({ merchantId, email: busy, role: 'viewer' })
  await new PortalClient(gateway).join(await linkFor(busy, 'join'))
  let asking: Promise<unknown> = Promise.resolve()
  await gateway.pool.transaction(async (transaction) => {
    await transaction.query('lock table member_links in share row exclusive mode')
    asking = Promise.all([1, 2, 3].map(() => members.askRecovery(busy)))
    // All have looked before one of them has made a link.
    await untilBlocked(gateway.pool, 3, 'lock table member_links%')
  })
  await asking
  const { rows } = await gateway.pool.query(
    "select from emails where kind = 'member-recovery' and recipient = $1",
    [busy],
  )
  assert.equal(rows.length, 1)
})

test('asking for a link is answered before anybody looks whose address it is', async () => {
  const client = new PortalClient(gateway)
  await gateway.pool.transaction(async (transaction) => {
    // Whoever looked would wait here.
    await transaction.query('lock table members, member_accounts, member_links')
    for (const each of [email, 'nobody@tea.example']) {
      const sent = () =>
        client
          .post('/merchant/forgotten', { email: each }, { on: '/merchant/forgotten' })
          .then(({ status }) => assert.equal(status, 303))
      assert.equal(await hashesDuring(sent), 0, each)
    }
  })
})

test('without mail there is no such page', async () => {
  const without = await startTestGateway()
  assert.equal((await new PortalClient(without).get('/merchant/forgotten')).location, '/merchant/sign-in')
})
