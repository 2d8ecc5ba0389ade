// Whom the sender believes: real handshakes with receivers whose certificates are right, or wrong in one way.
// The receivers are internal targets on the operator's list; a listed target is let in, never believed more.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import type { TLSSocket, TlsOptions } from 'node:tls'
import type { Outbound } from '../../src/platform/outbound/outbound.ts'
import type { Delivery } from '../../src/platform/runtime/delivery.ts'
import { makeAuthority, makeSelfSigned } from '../support/certificates.ts'
import { makeSender, plainAnswer, receiveRaw, receiveTls } from '../support/outbound-network.ts'

const authority = makeAuthority()
const good = authority.issue({ altNames: ['DNS:shop.test', 'IP:127.0.0.1'] })

async function deliver(
  t: TestContext,
  options: TlsOptions,
  { host = 'shop.test', trusted = [authority.ca] }: { host?: string; trusted?: readonly string[] } = {},
): Promise<{ delivery: Delivery; requests: string[] }> {
  const requests: string[] = []
  const receiver = await receiveTls(t, options, (socket) => {
    requests.push('request')
    socket.write(plainAnswer('ok'))
  })
  const delivery = await senderTo(t, receiver.port, trusted).post({
    url: `https://${host}:${receiver.port}/`,
    body: '{}',
  })
  return { delivery, requests }
}

function senderTo(t: TestContext, port: number, trusted: readonly string[] = [authority.ca]): Outbound {
  const allowedTargets = ['shop.test', 'other.test', '127.0.0.1'].map((host) => `${host}:${port}`)
  return makeSender(
    t,
    { mode: 'live', allowedTargets, ...(trusted.length > 0 && { extraCa: trusted.join('\n') }) },
    { lookup: async () => ['127.0.0.1'] },
  )
}

function assertRefused(
  { delivery, requests }: { delivery: Delivery; requests: string[] },
  detail: RegExp,
): void {
  assert(delivery.kind === 'unreachable', JSON.stringify(delivery))
  assert.equal(delivery.reason, 'tls', delivery.detail)
  assert.match(delivery.detail, detail)
  assert.deepEqual(requests, [])
}

describe('a certificate', () => {
  test('of an authority in the extra CA, for the right name, is believed', async (t) => {
    const { delivery } = await deliver(t, good)
    assert.equal(delivery.kind, 'answered')
  })

  test('for the address is believed where the URL names the address', async (t) => {
    const { delivery } = await deliver(t, good, { host: '127.0.0.1' })
    assert.equal(delivery.kind, 'answered')
  })

  test('is believed where the URL ends its name with a dot', async (t) => {
    const { delivery } = await deliver(t, good, { host: 'shop.test.' })
    assert.equal(delivery.kind, 'answered')
  })

  test('whose authority is second of two in the extra CA is believed', async (t) => {
    const { delivery } = await deliver(t, good, { trusted: [makeAuthority('Other').ca, authority.ca] })
    assert.equal(delivery.kind, 'answered')
  })

  test('of an authority that nobody listed is refused', async (t) => {
    assertRefused(await deliver(t, good, { trusted: [] }), /UNABLE_TO_VERIFY_LEAF_SIGNATURE/)
    assertRefused(
      await deliver(t, good, { trusted: [makeAuthority('Other').ca] }),
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
    )
  })

  test('that is self-signed is refused', async (t) => {
    assertRefused(await deliver(t, makeSelfSigned(['DNS:shop.test'])), /DEPTH_ZERO_SELF_SIGNED_CERT/)
  })

  test('for another name is refused', async (t) => {
    assertRefused(await deliver(t, good, { host: 'other.test' }), /ERR_TLS_CERT_ALTNAME_INVALID/)
  })

  test('without the address is refused where the URL names the address', async (t) => {
    const named = authority.issue({ altNames: ['DNS:shop.test'] })
    assertRefused(await deliver(t, named, { host: '127.0.0.1' }), /ERR_TLS_CERT_ALTNAME_INVALID/)
  })

  test('that has expired is refused', async (t) => {
    const expired = authority.issue({ altNames: ['DNS:shop.test'], validDays: { from: -20, to: -1 } })
    assertRefused(await deliver(t, expired), /CERT_HAS_EXPIRED/)
  })

  test('that is not valid yet is refused', async (t) => {
    const early = authority.issue({ altNames: ['DNS:shop.test'], validDays: { from: 1, to: 20 } })
    assertRefused(await deliver(t, early), /CERT_NOT_YET_VALID/)
  })

  test('is checked though the environment says not to', async (t) => {
    const name = 'NODE_TLS_REJECT_UNAUTHORIZED'
    const before = process.env[name]
    t.after(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
    process.env[name] = '0'
    assertRefused(await deliver(t, makeSelfSigned(['DNS:shop.test'])), /DEPTH_ZERO_SELF_SIGNED_CERT/)
  })
})

describe('a handshake', () => {
  test('names the host and offers HTTP/1.1 alone', async (t) => {
    const seen: unknown[] = []
    const receiver = await receiveTls(t, { ...good, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      // Safe: a TLS server hands out such sockets alone.
      const { servername, alpnProtocol } = socket as TLSSocket
      seen.push({ servername, alpnProtocol })
      socket.write(plainAnswer('ok'))
    })
    await senderTo(t, receiver.port).post({
      url: `https://shop.test:${receiver.port}/`,
      body: '{}',
    })
    assert.deepEqual(seen, [{ servername: 'shop.test', alpnProtocol: 'http/1.1' }])
  })

  test('below TLS 1.2 is refused', async (t) => {
    const old = {
      ...good,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const
    assertRefused(await deliver(t, old), /./)
  })

  test('with a receiver that speaks plain HTTP fails', async (t) => {
    const receiver = await receiveRaw(t, (socket) => socket.end(plainAnswer('ok')))
    const url = `https://shop.test:${receiver.port}/`
    const delivery = await senderTo(t, receiver.port).post({ url, body: '{}' })
    assertRefused({ delivery, requests: [] }, /./)
  })

  test('in which the receiver hangs up fails', async (t) => {
    const receiver = await receiveRaw(t, (socket) => socket.destroy())
    const url = `https://shop.test:${receiver.port}/`
    const delivery = await senderTo(t, receiver.port).post({ url, body: '{}' })
    assertRefused({ delivery, requests: [] }, /./)
  })

  test('that failed leaves no connection behind', async (t) => {
    const receiver = await receiveTls(t, makeSelfSigned(['DNS:shop.test']), () => {})
    const url = `https://shop.test:${receiver.port}/`
    await senderTo(t, receiver.port).post({ url, body: '{}' })
    const [socket] = receiver.sockets
    assert(socket)
    if (!socket.destroyed) await once(socket, 'close')
  })

  test('that wants a certificate of ours fails', async (t) => {
    const { delivery } = await deliver(t, {
      ...good,
      requestCert: true,
      rejectUnauthorized: true,
      ca: authority.ca,
    })
    assert.equal(delivery.kind, 'unreachable')
  })
})
