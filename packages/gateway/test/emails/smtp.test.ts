// Handing messages to a real mail server: TLS, signing in, refusals, and servers that never come to an end.
import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import { openMailSession } from '../../src/platform/outbound/smtp.ts'
import { headerOf, sender, startMailServer, textOf } from '../support/mail-server.ts'

const mail = {
  id: '019a0000-0000-7000-8000-000000000000',
  to: 'ann@example.com',
  subject: 'Grüße',
  text: 'Hällo\n\nworld',
  html: '<p>Hällo</p>',
  headers: {},
}

for (const tls of ['secure', 'starttls', 'none'] as const) {
  test(`a message arrives whole, ${tls === 'none' ? 'without TLS' : `by TLS (${tls})`}, with a fixed Message-ID`, async () => {
    const server = await startMailServer({ tls, password: 'right' })
    const session = openMailSession(server.settings)
    assert.deepEqual(await session.send(mail), { kind: 'accepted' })
    assert.deepEqual(await session.send(mail), { kind: 'accepted' })
    session.close()
    const [first, second] = server.received
    assert.ok(first && second)
    assert.equal(first.isSecure, tls !== 'none')
    assert.deepEqual([first.from, first.to, first.user], [sender.address, 'ann@example.com', 'tillgate'])
    assert.equal(headerOf(first.raw, 'Message-ID'), `<${mail.id}@pay.test>`)
    assert.equal(headerOf(second.raw, 'Message-ID'), `<${mail.id}@pay.test>`)
    assert.match(textOf(first.raw), /^Hällo\s+world$/)
    assert.match(first.raw, /multipart\/alternative/)
  })
}

test('a server without a trusted certificate, or without STARTTLS where it is needed, gets nothing', async () => {
  const untrusted = await startMailServer({ tls: 'secure' })
  const { ca: _, ...withoutCa } = untrusted.settings
  const refused = await openMailSession(withoutCa).send(mail)
  assert.equal(refused.kind, 'unreachable')
  const plain = await startMailServer()
  const needed = await openMailSession({ ...plain.settings, isTlsNeeded: true }).send(mail)
  assert.equal(needed.kind, 'unreachable')
  assert.deepEqual([untrusted.received, plain.received], [[], []])
})

test('a wrong password and a server that is away are for the operator to mend', async () => {
  const server = await startMailServer({ tls: 'starttls', password: 'right' })
  const login = { user: 'tillgate', password: 'wrong' }
  const refused = await openMailSession({ ...server.settings, login }).send(mail)
  assert.equal(refused.kind, 'unreachable')
  assert.match(JSON.stringify(refused), /Wrong password/)
  assert.doesNotMatch(JSON.stringify(refused), /"wrong"/)
  await server.close()
  const away = await openMailSession(server.settings).send(mail)
  assert.match(JSON.stringify(away), /unreachable.*ECONNREFUSED/)
})

test('5xx to a recipient is final, 4xx is not, and the next message is sent all the same', async () => {
  const server = await startMailServer()
  const codes: Record<string, number> = { 'gone@example.com': 550, 'full@example.com': 452 }
  server.refuse = (to) => (codes[to] ? { code: codes[to], text: 'Not this one' } : undefined)
  const session = openMailSession(server.settings)
  const gone = await session.send({ ...mail, to: 'gone@example.com' })
  assert.equal(gone.kind, 'refused')
  assert.match(JSON.stringify(gone), /550 Not this one/)
  assert.equal((await session.send({ ...mail, to: 'full@example.com' })).kind, 'postponed')
  assert.equal((await session.send(mail)).kind, 'accepted')
  session.close()
})

test('no line break of a message becomes a header', async () => {
  const server = await startMailServer()
  const session = openMailSession(server.settings)
  const subject = 'Hello\r\nBcc: eve@example.com\r\n\r\nbody'
  await session.send({ ...mail, subject, headers: { 'X-Test': 'a\r\nX-Injected: b' } })
  session.close()
  const raw = server.received[0]?.raw ?? ''
  assert.deepEqual([headerOf(raw, 'Bcc'), headerOf(raw, 'X-Injected')], [undefined, undefined])
  assert.equal(server.received[0]?.to, 'ann@example.com')
})

test('a server that says nothing, or drips, is left when the time is over', async () => {
  const silent = createServer(() => {})
  const dripping = createServer((socket) => {
    socket.write('220 here\r\n')
    const timer = setInterval(() => socket.write('250-more\r\n'), 5)
    socket.on('error', () => {}).on('close', () => clearInterval(timer))
  })
  for (const server of [silent, dripping]) {
    after(() => server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const session = openMailSession({
      host: '127.0.0.1',
      port,
      isSecure: false,
      isTlsNeeded: false,
      login: undefined,
      from: sender,
      limits: { connectMs: 100, messageMs: 100 },
    })
    assert.match(JSON.stringify(await session.send(mail)), /unreachable.*longer than 0.1 s/)
    session.close()
  }
  const slow = await startMailServer()
  slow.beforeAccepting = () => new Promise(() => {})
  const session = openMailSession({ ...slow.settings, limits: { connectMs: 1_000, messageMs: 100 } })
  assert.match(JSON.stringify(await session.send(mail)), /postponed.*longer than 0.1 s/)
})
