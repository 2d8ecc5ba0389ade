// Members of merchants: links that open once and not too late, access that ends, the last owner, and answers that tell
// nobody whose address is known.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { totpCode } from '../../src/identity/accounts/totp.ts'
import { hashToken } from '../../src/identity/members/manage-members.ts'
import { invitationLimit } from '../../src/identity/members/rules/member.ts'
import { actingAs } from '../support/acting.ts'
import { fromBase32 } from '../support/base32.ts'
import { untilBlocked } from '../support/blocked.ts'
import { TestClock } from '../support/clock.ts'
import { freshDatabase } from '../support/database.ts'
import { testOperations } from '../support/operations.ts'

const clock = new TestClock()
const { pool } = await freshDatabase()
const { operations, stores } = testOperations(pool, { clock })
const { members, merchants } = actingAs(operations, 'test')
const { memberLinks: links, memberAccounts } = operations
const { authenticate, sessions } = memberAccounts
const password = 'a password of a member'
const hourMs = 60 * 60 * 1000
const { merchantId } = (await merchants.addMerchant({ name: 'Tea House' })).merchant

const tokenOf = (link: string | undefined) => (link ?? '').split('/').at(-1) ?? ''
let people = 0
const newEmail = () => `person-${++people}@shop.example`

const newMerchant = async (name: string) => (await merchants.addMerchant({ name })).merchant.merchantId

async function join(role: 'owner' | 'viewer' = 'viewer', of = merchantId): Promise<string> {
  const email = newEmail()
  const { link } = await members.inviteMember({ merchantId: of, email, role })
  const invitation = await links.findInvitation(tokenOf(link))
  assert(invitation)
  await links.joinAnew(invitation, password, 'test')
  return email
}

/** As an owner of another merchant as well. */
async function joinToo(login: string, of: string): Promise<void> {
  const { link } = await members.inviteMember({ merchantId: of, email: login, role: 'owner' })
  const invitation = await links.findInvitation(tokenOf(link))
  const proof = await authenticate({ login, password })
  assert(invitation && proof.kind === 'right')
  await links.join(invitation, proof.account, 'test')
}

test('an invitation lets one person in, once, however it is written', async () => {
  const { link, login } = await members.inviteMember({
    merchantId,
    email: ' Ann@Shop.Example ',
    role: 'owner',
  })
  assert.equal(login, 'ann@shop.example')
  assert.match(link ?? '', /^http:\/\/localhost:8080\/merchant\/join\/[\w-]{43}$/)
  const invitation = await links.findInvitation(tokenOf(link))
  assert(invitation)
  const { merchantName, role, hasAccount } = invitation
  assert.deepEqual(
    { merchantName, role, hasAccount },
    { merchantName: 'Tea House', role: 'owner', hasAccount: false },
  )
  const both = await Promise.allSettled([1, 2].map(() => links.joinAnew(invitation, password, 'test')))
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal(await links.findInvitation(tokenOf(link)), undefined)
  assert.equal((await authenticate({ login: 'ANN@shop.example', password })).kind, 'right')
  const { rows } = await pool.query<{ act: string }>(
    "select act from audit where subject = 'ann@shop.example' order by act",
  )
  assert.deepEqual(
    rows.map(({ act }) => act),
    ['member.invite', 'member.join'],
  )
})

test('the database holds no token, only its hash', async () => {
  const { link } = await members.inviteMember({ merchantId, email: newEmail(), role: 'viewer' })
  const { rows } = await pool.query('select * from member_links')
  assert.ok(!JSON.stringify(rows).includes(tokenOf(link)))
})

test('a link is good until its last moment, and dead from then on; a new one replaces it', async () => {
  const email = newEmail()
  const first = await members.inviteMember({ merchantId, email, role: 'viewer' })
  const second = await members.inviteMember({ merchantId, email, role: 'viewer' })
  assert.equal(await links.findInvitation(tokenOf(first.link)), undefined)
  clock.advance(72 * hourMs - 1)
  const open = await links.findInvitation(tokenOf(second.link))
  assert(open)
  clock.advance(1)
  assert.equal(await links.findInvitation(tokenOf(second.link)), undefined)
  await assert.rejects(links.joinAnew(open, password, 'test'), /already used or has expired/)
})

test('of invitations that are made at once for one address one is open', async () => {
  const email = newEmail()
  const inviting = await pool.transaction(async (transaction) => {
    await transaction.query('lock table audit in share mode')
    const both = [1, 2].map(() => members.inviteMember({ merchantId, email, role: 'viewer' }))
    await untilBlocked(pool, 2, '%')
    return both
  })
  const made = await Promise.all(inviting)
  const open = await Promise.all(made.map(({ link }) => links.findInvitation(tokenOf(link))))
  assert.equal(open.filter((each) => each !== undefined).length, 1)
  await assert.rejects(members.removeMember({ merchantId, login: email }), /Member .* does not exist/)
  assert.equal((await members.listMembers(merchantId)).invitations.at(-1)?.login, email)
  clock.advance(1)
})

test('whoever is removed does not come back by an invitation that was made while they joined', async () => {
  const email = await join()
  const token = 'A'.repeat(43)
  await pool.query(
    `insert into member_links (link_id, token_hash, kind, login, merchant_id, role, made_by, created_at, expires_at)
     values ($1, $2, 'invitation', $3, $4, 'viewer', 'test', 0, $5)`,
    [randomUUID(), hashToken(token), email, merchantId, clock.now() + hourMs],
  )
  const invitation = await links.findInvitation(token)
  assert(invitation)
  await members.removeMember({ merchantId, login: email })
  assert.equal(await links.findInvitation(token), undefined)
  const proof = await authenticate({ login: email, password })
  assert(proof.kind === 'right')
  await assert.rejects(links.join(invitation, proof.account, 'test'))
  assert.deepEqual(await stores.members.listMemberships(email), [])
})

test('an owner who is removed, or is an owner no more, does not come back by an invitation of their own', async () => {
  const [of, another] = [await newMerchant('Parted Shop'), await newMerchant('Another Shop')]
  const staying = await join('owner', of)
  const inviteAs = async (login: string, to = of) => {
    const { members: own } = actingAs(operations, `member:${login}@192.0.2.1`)
    return tokenOf((await own.inviteMember({ merchantId: to, email: newEmail(), role: 'owner' })).link)
  }
  const isOpen = async (token: string) => (await links.findInvitation(token)) !== undefined
  const others = await inviteAs(staying)
  for (const part of [
    (login: string) => members.removeMember({ merchantId: of, login }),
    (login: string) => members.changeRole({ merchantId: of, login, role: 'viewer' }),
  ]) {
    const leaving = await join('owner', of)
    await joinToo(leaving, another)
    const [own, elsewhere] = [await inviteAs(leaving), await inviteAs(leaving, another)]
    await members.changeRole({ merchantId: of, login: leaving, role: 'owner' })
    assert.ok(await isOpen(own))
    await part(leaving)
    assert.deepEqual(await Promise.all([own, elsewhere, others].map(isOpen)), [false, true, true])
  }
  await assert.rejects(members.changeRole({ merchantId: of, login: staying, role: 'viewer' }), /last owner/)
  assert.ok(await isOpen(others))
})

test('links that an operator made end when that operator is disabled', async () => {
  const { operators } = actingAs(operations, 'test')
  for (const login of ['eve', 'eve-2', 'root'])
    await operators.addOperator({ login, role: 'admin', password: 'a password of an operator' })
  const of = await newMerchant('Visited Shop')
  const email = await join('viewer', of)
  const make = async (actor: string) => {
    const { members: theirs } = actingAs(operations, `${actor}@192.0.2.1`)
    const invited = await theirs.inviteMember({ merchantId: of, email: newEmail(), role: 'owner' })
    return tokenOf(invited.link)
  }
  const [own, byToken] = [await make('console:eve'), await make('api:eve/nightly')]
  const others = await make('console:eve-2')
  const recovery = await actingAs(operations, 'console:eve@192.0.2.1').members.recoverAccount(
    { merchantId: of, login: email },
    'lost',
  )
  await operators.disableOperator('eve', 'left')
  assert.equal(await links.findInvitation(own), undefined)
  assert.equal(await links.findInvitation(byToken), undefined)
  assert.equal(await links.findRecovery(tokenOf(recovery.link)), undefined)
  assert(await links.findInvitation(others))
})

test('an owner who was removed, and an operator who was disabled, make no more links, also not at that very moment', async () => {
  const of = await newMerchant('Contested Shop')
  await join('owner', of)
  const { operators } = actingAs(operations, 'test')
  await operators.addOperator({ login: 'zoe', role: 'admin', password: 'a password of an operator' })
  const invite = (actor: string) =>
    actingAs(operations, actor).members.inviteMember({ merchantId: of, email: newEmail(), role: 'owner' })
  for (let round = 0; round < 10; round++) {
    const leaving = await join('owner', of)
    const asOwner = `member:${leaving}@192.0.2.1`
    await Promise.allSettled([invite(asOwner), members.removeMember({ merchantId: of, login: leaving })])
    await assert.rejects(invite(asOwner), { failure: 'not_allowed' })
    const login = `oscar-${round}`
    await operators.addOperator({ login, role: 'admin', password: 'a password of an operator' })
    const asOperator = [`console:${login}@192.0.2.1`, `api:${login}/nightly@192.0.2.1`]
    await Promise.allSettled([...asOperator.map(invite), operators.disableOperator(login, 'left')])
    for (const actor of asOperator) await assert.rejects(invite(actor), { failure: 'not_allowed' })
    await assert.rejects(
      actingAs(operations, `console:${login}@192.0.2.1`).members.recoverAccount(
        { merchantId: of, login: await join('viewer', of) },
        'x',
      ),
      { failure: 'not_allowed' },
    )
  }
  assert.deepEqual((await members.listMembers(of)).invitations, [])
})

test('a removed member’s link to a new password ends with the membership', async () => {
  const email = await join()
  const { link } = await members.recoverAccount({ merchantId, login: email }, 'lost')
  assert(await links.findRecovery(tokenOf(link)))
  await members.removeMember({ merchantId, login: email })
  assert.equal(await links.findRecovery(tokenOf(link)), undefined)
})

test('a join that is refused leaves the invitation open', async () => {
  const { merchant } = await merchants.addMerchant({ name: 'Refused Shop' })
  const email = await join()
  const { link } = await members.inviteMember({ merchantId: merchant.merchantId, email, role: 'viewer' })
  const invitation = await links.findInvitation(tokenOf(link))
  assert(invitation)
  const proof = await authenticate({ login: email, password })
  assert(proof.kind === 'right')
  const ended = { ...proof.account, accessVersion: proof.account.accessVersion - 1 }
  await assert.rejects(links.join(invitation, ended, 'test'), /no longer has access/)
  assert(await links.findInvitation(tokenOf(link)))
  await links.join(invitation, proof.account, 'test')
  assert.equal((await members.listMembers(merchant.merchantId)).members.length, 1)
})

test('a withdrawn invitation opens nothing, and only its merchant can withdraw it', async () => {
  const { merchant } = await merchants.addMerchant({ name: 'Other' })
  const { link } = await members.inviteMember({ merchantId, email: newEmail(), role: 'viewer' })
  const { invitations } = await members.listMembers(merchantId)
  const linkId = invitations.at(-1)?.linkId ?? ''
  await assert.rejects(
    members.withdrawInvitation({ merchantId: merchant.merchantId, linkId }),
    /no longer exists/,
  )
  assert.ok(await links.findInvitation(tokenOf(link)))
  await members.withdrawInvitation({ merchantId, linkId })
  assert.equal(await links.findInvitation(tokenOf(link)), undefined)
})

test('whoever has an account joins another merchant with it alone', async () => {
  const { merchant } = await merchants.addMerchant({ name: 'Second Shop' })
  const email = await join()
  clock.advance(1)
  const { link } = await members.inviteMember({ merchantId: merchant.merchantId, email, role: 'owner' })
  const invitation = await links.findInvitation(tokenOf(link))
  assert(invitation?.hasAccount)
  await assert.rejects(links.joinAnew(invitation, 'the password of a thief', 'test'), /already used/)
  assert.equal((await authenticate({ login: email, password })).kind, 'right')
  const stranger = await authenticate({ login: await join(), password })
  assert(stranger.kind === 'right')
  await assert.rejects(links.join(invitation, stranger.account, 'test'), /already used/)
  const proof = await authenticate({ login: email, password })
  assert(proof.kind === 'right')
  await links.join(invitation, proof.account, 'test')
  assert.deepEqual(
    (await stores.members.listMemberships(email)).map(({ merchantName }) => merchantName),
    ['Tea House', 'Second Shop'],
  )
})

test('recovery gives a new password once, ends all sessions, and leaves the second step on', async () => {
  const email = await join()
  const proof = await authenticate({ login: email, password })
  assert(proof.kind === 'right')
  await sessions.open(proof.account, { actor: 'test', address: '192.0.2.1' })
  const ownStep = { ...proof.account, actor: 'test' }
  const { secret } = await memberAccounts.secondStep.begin(ownStep)
  await memberAccounts.secondStep.confirm(ownStep, totpCode(fromBase32(secret), clock.now()))
  const { link } = await members.recoverAccount({ merchantId, login: email }, 'lost')
  const recovery = await links.findRecovery(tokenOf(link))
  assert(recovery)
  // Neither kind of link does the other's work.
  assert.equal(await links.findInvitation(tokenOf(link)), undefined)
  await links.recover(recovery, 'another password of hers', 'test')
  await assert.rejects(links.recover(recovery, 'the password of a thief', 'test'), /already used/)
  assert.deepEqual(await sessions.list(email), [])
  assert.equal((await authenticate({ login: email, password })).kind, 'wrong')
  const again = await authenticate({ login: email, password: 'another password of hers' })
  assert(again.kind === 'right')
  assert.equal(again.account.hasSecondStep, true)
})

/** What their own change of the password is proven by, as under "Your account", and that change. */
async function ownPassword(login: string): Promise<(newPassword: string) => Promise<void>> {
  const proof = await authenticate({ login, password })
  const given = { login, session: Buffer.alloc(32), oldPassword: password }
  const own = { actor: `member:${login}@192.0.2.1` }
  return (newPassword) => memberAccounts.changePassword(own, { ...given, newPassword }, async () => proof)
}

test('a member’s own new password ends a link that would give another, and no invitation', async () => {
  const other = await newMerchant('Careful Shop')
  const email = await join()
  const { link } = await members.recoverAccount({ merchantId, login: email }, 'somebody called')
  const invited = await members.inviteMember({ merchantId: other, email, role: 'viewer' })
  const recovery = await links.findRecovery(tokenOf(link))
  assert(recovery)
  const change = await ownPassword(email)
  const late = await ownPassword(email)
  await change('another password of hers')
  assert.equal(await links.findRecovery(tokenOf(link)), undefined)
  await assert.rejects(links.recover(recovery, 'the password of a thief', 'test'), /already used/)
  assert.equal((await authenticate({ login: email, password: 'another password of hers' })).kind, 'right')
  assert(await links.findInvitation(tokenOf(invited.link)))
  // A change that is refused ends none.
  const again = await members.recoverAccount({ merchantId, login: email }, 'lost')
  await assert.rejects(late('a third password'), /no longer has access/)
  assert(await links.findRecovery(tokenOf(again.link)))
})

test('of a link and a change of password at the same moment the first counts, and neither waits for ever', async () => {
  for (const linkIsFirst of [true, false]) {
    const email = await join()
    const { link } = await members.recoverAccount({ merchantId, login: email }, 'lost')
    const recovery = await links.findRecovery(tokenOf(link))
    assert(recovery)
    const change = await ownPassword(email)
    const uses = [
      () => links.recover(recovery, 'a password by the link', 'test'),
      () => change('another password of hers'),
    ]
    const { done } = await pool.transaction(async (transaction) => {
      await transaction.query('select from member_accounts where login = $1 for update', [email])
      const begun: Promise<void>[] = []
      for (const use of linkIsFirst ? uses : uses.toReversed()) {
        begun.push(use())
        await untilBlocked(pool, begun.length, '%member_accounts%')
      }
      return { done: Promise.allSettled(begun) }
    })
    const [first, second] = await done
    assert.equal(first?.status, 'fulfilled')
    assert(second?.status === 'rejected')
    assert.match(second.reason.message, linkIsFirst ? /no longer has access/ : /already used/)
  }
})

test('wrong tries lock an address that nobody has as one that somebody has', async () => {
  const known = await join()
  const seen = await Promise.all(
    [known, 'nobody-at-all@shop.example'].map(async (login) => {
      const kinds: string[] = []
      for (let index = 0; index < 7; index++) {
        const proof = await authenticate({ login, password: 'not the password' })
        kinds.push(proof.kind === 'locked' ? `locked ${proof.untilMs - clock.now()}` : proof.kind)
      }
      return kinds
    }),
  )
  assert.deepEqual(seen[0], ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'locked 30000', 'locked 30000'])
  assert.deepEqual(seen[0], seen[1])
})

test('the last owner stays, also when two owners remove each other at once', async () => {
  const { merchant } = await merchants.addMerchant({ name: 'Two Owners' })
  const of = merchant.merchantId
  const both = [await join('owner', of), await join('owner', of)]
  const removed = await Promise.allSettled(
    both.map((login) => members.removeMember({ merchantId: of, login })),
  )
  assert.deepEqual(removed.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const [left] = (await members.listMembers(of)).members
  assert(left)
  await assert.rejects(members.changeRole({ ...left, role: 'viewer' }), /is the last owner/)
  await assert.rejects(
    members.removeMember({ merchantId: of, login: 'nobody@shop.example' }),
    /Member .* does not exist/,
  )
})

test('what is no address is refused at its field', async () => {
  for (const email of [
    '',
    'ann',
    'ann@',
    '@shop.example',
    'a b@shop.example',
    'ann@shop..example',
    `${'a'.repeat(250)}@b.example`,
  ])
    await assert.rejects(
      members.inviteMember({ merchantId, email, role: 'viewer' }),
      (error) => (error as { field?: string }).field === 'email',
      email,
    )
})

test('a recovery link is good until its last moment, and of two who use it at once one does', async () => {
  const email = await join()
  const link = async () => {
    const made = await members.recoverAccount({ merchantId, login: email }, 'lost')
    const found = await links.findRecovery(tokenOf(made.link))
    assert(found)
    return { found, token: tokenOf(made.link) }
  }
  const late = await link()
  clock.advance(24 * hourMs)
  assert.equal(await links.findRecovery(late.token), undefined)
  await assert.rejects(links.recover(late.found, 'a password that is too late', 'test'), /has expired/)
  const { found } = await link()
  const used = await Promise.allSettled(
    ['first', 'second'].map((who) => links.recover(found, `the password of the ${who}`, 'test')),
  )
  assert.deepEqual(used.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

test('a second step is reset for members of the merchant that is named, and for nobody else', async () => {
  const { merchant } = await merchants.addMerchant({ name: 'Third Shop' })
  const email = await join()
  const key = { merchantId: merchant.merchantId, login: email }
  await assert.rejects(members.demandMember(key), /Member .* does not exist/)
  assert.equal(await members.demandMember({ merchantId, login: email.toUpperCase() }), email)
})

test('a merchant invites so many people a day, also if it withdraws each or invites the same one', async () => {
  const { merchant } = await merchants.addMerchant({ name: 'Loud House' })
  const { most, withinMs } = invitationLimit
  const invite = () =>
    members.inviteMember({ merchantId: merchant.merchantId, email: 'third@party.example', role: 'viewer' })
  for (let made = 0; made < most; made++) {
    await invite()
    const { invitations } = await members.listMembers(merchant.merchantId)
    if (made % 2 === 0)
      await members.withdrawInvitation({
        merchantId: merchant.merchantId,
        linkId: invitations[0]?.linkId ?? '',
      })
  }
  await assert.rejects(invite(), { failure: 'too_many_requests' })
  assert.ok((await members.inviteMember({ merchantId, email: newEmail(), role: 'viewer' })).link)
  clock.advance(withinMs)
  assert.ok((await invite()).link)
})

test('a member has the name of the invitation, or the one they choose, until they change it', async () => {
  const email = newEmail()
  const { link } = await members.inviteMember({ merchantId, email, role: 'viewer', name: ' Ann Example ' })
  const invitation = await links.findInvitation(tokenOf(link))
  assert.equal(invitation?.name, 'Ann Example')
  await links.joinAnew({ ...invitation, name: 'Ann B. Example' }, password, 'test')
  const nameOf = async () =>
    (await members.listMembers(merchantId)).members.find(({ login }) => login === email)?.name
  assert.equal(await nameOf(), 'Ann B. Example')
  await memberAccounts.changeName({ actor: 'test' }, { login: email, name: 'Ann Other' })
  assert.equal(await nameOf(), 'Ann Other')
  await assert.rejects(
    memberAccounts.changeName({ actor: 'test' }, { login: email, name: 'a\u202Eb' }),
    /without control characters/,
  )
  await memberAccounts.changeName({ actor: 'test' }, { login: email, name: '' })
  assert.equal(await nameOf(), undefined)
})
