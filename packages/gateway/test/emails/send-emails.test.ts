// Emails from their cause to the reader: written with what they tell of, sent once, tried again, refused, given up; and
// whatever dies between sending and recording, none is lost and none is sent more than twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/app/settings/config.ts'
import type { NewEmail } from '../../src/core/emails/rules/email.ts'
import { queueEmails } from '../../src/core/emails/store/queue-emails.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { openMailSession } from '../../src/platform/outbound/smtp.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { freshDatabase } from '../support/database.ts'
import { faultyPool } from '../support/faulty-pool.ts'
import { headerOf, startMailServer, textOf } from '../support/mail-server.ts'
import { heldClock } from '../support/money.ts'
import { testOperations } from '../support/operations.ts'
import { testEnvironment } from '../support/started.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const server = await startMailServer()
const hourMs = 60 * 60_000
const config = readConfig({
  ...testEnvironment,
  SMTP_URL: server.url,
  SMTP_FROM: 'Example Pay <no-reply@pay.test>',
  OPERATOR_EMAILS: 'one@ops.test, two@ops.test',
})
const signal = new AbortController().signal
const open = (over: Pool) =>
  testOperations(over, { config, clock, openMail: () => openMailSession(server.settings) }).operations
const operations = open(pool)
const { makeEmails, sendEmails } = operations

function invitation(email: string, link = 'https://pay.test/join#secret') {
  return makeEmails('member-invitation', {
    to: { email, language: 'de' },
    parameters: { merchant: 'Tee & <Haus>', inviter: 'Ann', until: '2026-12-01 10:00 UTC' },
    link,
  })
}

const queue = (emails: readonly NewEmail[]) => queueEmails(pool, emails)

interface Stored {
  state: string
  attempts: number
  error: string
  isWiped: boolean
  dueAt: string
  claimId: string | null
}

async function find(email: string): Promise<Stored | undefined> {
  const { rows } = await pool.query<Stored>(
    `select state, attempts, last_error as error, sealed_link is null as "isWiped", due_at as "dueAt",
            claim_id as "claimId"
       from emails where recipient = $1`,
    [email],
  )
  return rows[0]
}

async function stateOf(email: string): Promise<Stored> {
  const found = await find(email)
  assert.ok(found)
  return found
}

const mailsTo = (email: string) => server.received.filter(({ to }) => to === email)

test('an invitation arrives in its language with its link, which rests sealed until then and is wiped', async () => {
  await queue(invitation('ann@example.com'))
  const { rows } = await pool.query('select * from emails')
  assert.doesNotMatch(JSON.stringify(rows), /#secret/)
  assert.equal(await sendEmails.sendDue(signal), 1)
  const [mail] = mailsTo('ann@example.com')
  assert.ok(mail)
  assert.match(textOf(mail.raw), /Ann lädt Sie zum Konto von Tee & <Haus> ein/)
  assert.match(textOf(mail.raw), /gilt bis 01\.12\.2026, 10:00 UTC/)
  assert.match(textOf(mail.raw), /https:\/\/pay\.test\/join#secret/)
  const { state, attempts, isWiped, claimId } = await stateOf('ann@example.com')
  assert.deepEqual([state, attempts, isWiped, claimId], ['sent', 1, true, null])
  assert.equal(await sendEmails.sendDue(signal), 0)
})

test('what an email tells of and the email are there together or not at all', async () => {
  const given = invitation('bob@example.com')
  await assert.rejects(
    pool.transaction(async (transaction) => {
      await queueEmails(transaction, given)
      throw new Error('the cause failed')
    }),
  )
  assert.equal(await find('bob@example.com'), undefined)
})

test('what cannot be sent now is tried again, later and later, and given up after three days', async () => {
  server.refuse = (to) => (to === 'full@example.com' ? { code: 452, text: 'Mailbox full' } : undefined)
  await queue(invitation('full@example.com'))
  const waits: number[] = []
  for (let tries = 0; tries < 40; tries++) {
    await sendEmails.sendDue(signal)
    const { state, dueAt } = await stateOf('full@example.com')
    if (state !== 'queued') break
    waits.push((Number(dueAt) - clock.now()) / 60_000)
    clock.advance(Number(dueAt) - clock.now())
  }
  assert.deepEqual(waits.slice(0, 8), [1, 5, 15, 60, 180, 360, 720, 720])
  const { state, error, isWiped } = await stateOf('full@example.com')
  assert.deepEqual([state, isWiped], ['given_up', true])
  assert.match(error, /452 Mailbox full/)
  assert.ok(waits.reduce((sum, wait) => sum + wait, 0) <= 72 * 60)
})

test('what the server will never take is refused at once', async () => {
  server.refuse = (to) => (to === 'gone@example.com' ? { code: 550, text: 'No such user' } : undefined)
  await queue(invitation('gone@example.com'))
  await sendEmails.sendDue(signal)
  const { state, attempts, error } = await stateOf('gone@example.com')
  assert.deepEqual([state, attempts], ['refused', 1])
  assert.match(error, /550 No such user/)
})

test('a link that is over is not sent any more', async () => {
  server.refuse = (to) => (to === 'late@example.com' ? { code: 451, text: 'Later' } : undefined)
  const given = makeEmails('member-recovery', {
    to: { email: 'late@example.com', language: 'en' },
    parameters: { until: 'soon' },
    link: 'https://pay.test/recover',
    giveUpAtMs: clock.now() + 30_000,
  })
  await queue(given)
  await sendEmails.sendDue(signal)
  assert.equal((await stateOf('late@example.com')).state, 'given_up')
})

test('a code that ended while nothing ran is given up unsent; what has no end of its own is still sent', async () => {
  server.refuse = () => undefined
  const giveUpAtMs = clock.now() + 15 * 60_000
  const to = (email: string) => ({ email, language: 'en' }) as const
  await queue([
    ...makeEmails('member-recovery', {
      to: to('over@example.com'),
      parameters: { until: 'soon' },
      link: 'https://pay.test/recover',
      giveUpAtMs,
    }),
    ...invitation('patient@example.com'),
  ])
  clock.advance(15 * 60_000 + 1)
  await sendEmails.sendDue(signal)
  assert.deepEqual(mailsTo('over@example.com'), [])
  const { state, error, isWiped } = await stateOf('over@example.com')
  assert.deepEqual([state, isWiped], ['given_up', true])
  assert.match(error, /over before it could be sent/)
  assert.equal((await stateOf('patient@example.com')).state, 'sent')

  await queue(invitation('weekend@example.com'))
  clock.advance(80 * hourMs)
  await sendEmails.sendDue(signal)
  assert.equal((await stateOf('weekend@example.com')).state, 'sent')
})

test('a code is sent up to its last moment', async () => {
  const given = makeEmails('member-recovery', {
    to: { email: 'last@example.com', language: 'en' },
    parameters: { until: 'soon' },
    link: 'https://pay.test/recover',
    giveUpAtMs: clock.now() + 30_000,
  })
  await queue(given)
  clock.advance(30_000)
  await sendEmails.sendDue(signal)
  assert.equal((await stateOf('last@example.com')).state, 'sent')
})

test('one that cannot be written is set aside with its error, and holds up none behind it', async () => {
  await queue(
    ['hollow@example.com', 'strange@example.com', 'unsealed@example.com'].flatMap((to) => invitation(to)),
  )
  const spoil = (email: string, change: string) =>
    pool.query(`update emails set ${change} where recipient = $1`, [email])
  await spoil('hollow@example.com', "parameters = '{}'")
  await spoil('strange@example.com', "kind = 'of-a-newer-gateway'")
  await spoil('unsealed@example.com', "sealed_link = 'not sealed'")
  clock.advance(1)
  await queue([
    ...invitation('behind@example.com'),
    ...makeEmails('approval-waiting', {
      parameters: { act: 'a', requestedBy: 'b', reason: 'c', until: 'd' },
      onceKey: 'nobody knows it',
    }),
  ])
  await pool.query("update emails set kind = 'unknown' where once_key like '%nobody knows it'")
  await sendEmails.sendDue(signal)
  assert.equal((await stateOf('behind@example.com')).state, 'sent')
  const hollow = await stateOf('hollow@example.com')
  assert.deepEqual([hollow.state, Number(hollow.dueAt)], ['queued', clock.now() + 60_000])
  assert.match(hollow.error, /cannot be written.*without inviter/)
  for (const email of ['strange@example.com', 'unsealed@example.com'])
    assert.match((await stateOf(email)).error, /cannot be written/)
  clock.advance(73 * hourMs)
  await sendEmails.sendDue(signal)
  const { rows } = await pool.query("select from emails where state = 'queued'")
  assert.equal(rows.length, 0)
})

test('a receipt that was refused or given up can be asked for again; one that waits or was sent is not sent twice', async () => {
  const ask = (email: string) =>
    queue(
      makeEmails('receipt', {
        to: { email, language: 'en' },
        parameters: { merchant: 'M', amount: '1', time: 't', orderNo: 'o', paymentId: 'p' },
        onceKey: `receipt ${email}`,
      }),
    )
  for (const [email, code] of [
    ['r550@example.com', 550],
    ['r451@example.com', 451],
  ] as const) {
    server.refuse = (to) => (to === email ? { code, text: 'No' } : undefined)
    await ask(email)
    await sendEmails.sendDue(signal)
    await ask(email)
    clock.advance(73 * hourMs)
    while ((await sendEmails.sendDue(signal)) > 0);
    assert.deepEqual(mailsTo(email), [])
    server.refuse = () => undefined
    for (let times = 0; times < 3; times++) {
      await ask(email)
      while ((await sendEmails.sendDue(signal)) > 0);
    }
    assert.equal(mailsTo(email).length, 1, email)
  }
})

test('an approval that waits is told to every operator of the setting, once each', async () => {
  const operators = actingAs(operations, 'test')
  await operators.operators.addOperator({ login: 'ann', role: 'admin', password: 'a password of ann' })
  const strict = { ...config, approvals: { ...config.approvals, words: ['money-in'] as const } }
  const actions = testActions({ ...testOperations(pool, { config: strict, clock }), clock, config: strict })
  const { wallet } = await operators.wallets.addWallet({ login: 'w@example.com', name: 'W', reason: 'test' })
  await actions.asked('ann', 'wallet.top-up', {
    params: { walletId: wallet.walletId },
    input: { currency: 'EUR', amount: '5.00' },
  })
  while ((await sendEmails.sendDue(signal)) > 0);
  for (const email of ['one@ops.test', 'two@ops.test']) {
    assert.equal(mailsTo(email).length, 1)
    assert.match(
      textOf(mailsTo(email)[0]?.raw ?? ''),
      /Requested action: Top up a wallet from one of the operator’s bank accounts/,
    )
  }
})

test('what happens many times is told once', async () => {
  const told = () =>
    makeEmails('approval-waiting', {
      parameters: { act: 'a', requestedBy: 'b', reason: 'c', until: 'd' },
      onceKey: 'host.example 2026-11-16',
    })
  await Promise.all([queue(told()), queue(told()), queue([...told(), ...told()])])
  const { rows } = await pool.query("select from emails where once_key like '%host.example%'")
  assert.equal(rows.length, 1)
})

test('two workers at once send each email once', async () => {
  server.received.length = 0
  await queue(Array.from({ length: 30 }, (_, n) => invitation(`p${n}@example.com`)).flat())
  const other = open(pool).sendEmails
  const drain = async (worker: typeof other) => {
    while ((await worker.sendDue(signal)) > 0);
  }
  await Promise.all([drain(sendEmails), drain(other), drain(sendEmails)])
  const invited = server.received.filter(({ to }) => /^p\d/.test(to)).map(({ to }) => to)
  assert.equal(invited.length, 30)
  assert.equal(new Set(invited).size, 30)
})

test('a server that is away costs one connection a batch, and everything waits for it', async () => {
  await queue([...invitation('x@example.com'), ...invitation('y@example.com')])
  let opened = 0
  const away = testOperations(pool, {
    config,
    clock,
    openMail: () => {
      const session = openMailSession({ ...server.settings, port: 1 })
      return {
        ...session,
        send(mail) {
          opened++
          return session.send(mail)
        },
      }
    },
  }).operations
  await away.sendEmails.sendDue(signal)
  assert.equal(opened, 1)
  for (const email of ['x@example.com', 'y@example.com']) assert.equal((await stateOf(email)).state, 'queued')
  clock.advance(hourMs)
  while ((await sendEmails.sendDue(signal)) > 0);
  assert.equal((await stateOf('y@example.com')).state, 'sent')
})

test('a worker that stops gives back what it had claimed', async () => {
  await queue([...invitation('s@example.com'), ...invitation('t@example.com')])
  const stopping = new AbortController()
  server.beforeAccepting = async () => stopping.abort()
  await sendEmails.sendDue(stopping.signal)
  server.beforeAccepting = async () => {}
  const states = [await stateOf('s@example.com'), await stateOf('t@example.com')]
  assert.deepEqual(states.map(({ state }) => state).sort(), ['queued', 'sent'])
  assert.equal(states.find(({ state }) => state === 'queued')?.attempts, 0)
  assert.equal(await sendEmails.sendDue(signal), 1)
})

for (const dies of ['process', 'connection'] as const) {
  test(`killed at any statement (${dies}), an email is sent at least once and at most twice, under one Message-ID`, async () => {
    for (let atPoint = 1; ; atPoint++) {
      const email = `${dies}${atPoint}@example.com`
      await queue(invitation(email))
      const broken = faultyPool(pool, { atPoint, dies })
      await open(broken.pool)
        .sendEmails.sendDue(signal)
        .catch(() => {})
      clock.advance(hourMs)
      while ((await sendEmails.sendDue(signal)) > 0);
      const ids = mailsTo(email).map(({ raw }) => headerOf(raw, 'Message-ID'))
      assert.ok(ids.length === 1 || ids.length === 2, `${ids.length} at ${atPoint}`)
      assert.equal(new Set(ids).size, 1)
      assert.equal((await stateOf(email)).state, 'sent')
      if (!broken.hasFailed()) break
    }
  })
}

test('without a mail server nothing is queued', () => {
  const silent = testOperations(pool, { clock }).operations
  assert.deepEqual(silent.makeEmails('member-recovery', { parameters: { until: 'x' } }), [])
})
