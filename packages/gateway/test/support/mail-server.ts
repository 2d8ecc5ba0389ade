// A real mail server in this process: keeps what it was sent, and refuses, postpones or dawdles as a test wants.
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { SMTPServer } from 'smtp-server'
import type { MailServer } from '../../src/platform/outbound/smtp.ts'
import { makeAuthority } from './certificates.ts'

export interface ReceivedMail {
  readonly to: string
  readonly from: string
  readonly isSecure: boolean
  readonly user: string | undefined
  /** As it came. */
  readonly raw: string
}

export interface TestMailServer {
  readonly received: ReceivedMail[]
  /** For the gateway's settings. */
  readonly url: string
  readonly settings: MailServer
  /** What it answers to a recipient; undefined: it takes it. */
  refuse: (to: string) => { readonly code: number; readonly text: string } | undefined
  /** Before it answers that it has the message. */
  beforeAccepting: () => Promise<void>
  close(): Promise<void>
}

export interface MailServerOptions {
  /** TLS from the first byte, by STARTTLS, or not at all. */
  readonly tls?: 'secure' | 'starttls' | 'none'
  readonly password?: string
}

export const sender = { name: 'Example Pay', address: 'no-reply@pay.test' }
/** Made when the first asks for it. */
let made: { ca: string; cert: string; key: string } | undefined

export async function startMailServer({
  tls = 'none',
  password,
}: MailServerOptions = {}): Promise<TestMailServer> {
  if (tls !== 'none' && !made) {
    const authority = makeAuthority()
    made = { ca: authority.ca, ...authority.issue({ altNames: ['DNS:localhost', 'IP:127.0.0.1'] }) }
  }
  const server = new SMTPServer({
    ...(tls !== 'none' && { cert: made?.cert, key: made?.key }),
    secure: tls === 'secure',
    authOptional: password === undefined,
    disabledCommands: tls === 'starttls' ? [] : ['STARTTLS'],
    logger: false,
    onAuth: ({ username, password: given }, _session, done) =>
      given === password
        ? done(null, { user: username })
        : done(Object.assign(new Error('Wrong password'), { responseCode: 535 })),
    onRcptTo({ address }, _session, done) {
      const refusal = mail.refuse(address)
      done(refusal ? Object.assign(new Error(refusal.text), { responseCode: refusal.code }) : null)
    },
    async onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk)
      mail.received.push({
        to: envelope.rcptTo.map(({ address }) => address).join(),
        from: envelope.mailFrom ? envelope.mailFrom.address : '',
        isSecure: secure,
        user: user as string | undefined,
        raw: Buffer.concat(chunks).toString(),
      })
      await mail.beforeAccepting()
      done()
    },
  })
  // A client that goes away is no news.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.server.address() as AddressInfo
  const login = password === undefined ? undefined : { user: 'tillgate', password }
  const mail: TestMailServer = {
    received: [],
    url: `smtp${tls === 'secure' ? 's' : ''}://127.0.0.1:${port}`,
    settings: {
      host: '127.0.0.1',
      port,
      isSecure: tls === 'secure',
      isTlsNeeded: tls === 'starttls',
      login,
      from: sender,
      ...(made && { ca: made.ca }),
    },
    refuse: () => undefined,
    beforeAccepting: async () => {},
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
  after(() => mail.close())
  return mail
}

/** The text part of a message, or another, decoded. */
export function textOf(raw: string, kind: 'plain' | 'html' = 'plain'): string {
  const type = new RegExp(`content-type: text/${kind}`, 'i')
  const part = raw.split(/^--.*$/m).find((each) => type.test(each)) ?? raw
  const body = part.slice(part.search(/\r?\n\r?\n/)).trim()
  if (/content-transfer-encoding: base64/i.test(part)) return Buffer.from(body, 'base64').toString()
  if (!/content-transfer-encoding: quoted-printable/i.test(part)) return body
  const bytes = body
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

export function headerOf(raw: string, name: string): string | undefined {
  const head = raw.slice(0, raw.search(/\r?\n\r?\n/)).replace(/\r?\n[ \t]+/g, ' ')
  return new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]
}
