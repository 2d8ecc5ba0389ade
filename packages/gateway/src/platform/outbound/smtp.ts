// Sends messages to a mail server over one connection. Every wait and every message is bounded, and any failure
// closes the connection, so the next message opens a new one.
import { connect, isIP, type Socket } from 'node:net'
import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'
import type { MailSession, OutgoingMail, Sending } from '../runtime/outside/mail.ts'
import { describe, readable } from './failure.ts'

export interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte; otherwise STARTTLS. */
  readonly isSecure: boolean
  /** Without STARTTLS, nothing is sent. */
  readonly isTlsNeeded: boolean
  readonly login: { readonly user: string; readonly password: string } | undefined
  readonly from: { readonly name: string; readonly address: string }
  /** Replaces the system's authorities. */
  readonly ca?: string
  readonly limits?: MailLimits
}

export interface MailLimits {
  readonly connectMs: number
  readonly messageMs: number
}

const usualLimits: MailLimits = { connectMs: 10_000, messageMs: 30_000 }

/** Loaded for the first message: the library takes 12 MB and 90 ms, and a gateway without email never needs it. */
const nodemailer = {
  composer: async () => (await import('nodemailer/lib/mail-composer/index.js')).default,
  connection: async () => (await import('nodemailer/lib/smtp-connection/index.js')).default,
}

class MailTrouble extends Error {}

interface OpenConnection {
  readonly smtp: SMTPConnection
  readonly socket: Socket
}

export function openMailSession(server: MailServer): MailSession {
  const { connectMs, messageMs } = server.limits ?? usualLimits
  let connection: OpenConnection | undefined

  const end = () => {
    connection?.smtp.close()
    connection?.socket.destroy()
    connection = undefined
  }
  return {
    async send(mail) {
      try {
        connection ??= await within(connectMs, (onOpened) => openConnection(server, onOpened))
      } catch (error) {
        return { kind: 'unreachable', reason: readable(describe(error)) }
      }
      const { smtp, socket } = connection
      try {
        const message = await compose(server, mail)
        await within(messageMs, (onBegun) => {
          onBegun(() => socket.destroy())
          return handOver(smtp, { from: server.from.address, to: mail.to }, message)
        })
        return { kind: 'accepted' }
      } catch (error) {
        end()
        return sendingAfter(error)
      }
    },
    close() {
      connection?.smtp.quit()
      const { socket } = connection ?? {}
      connection = undefined
      if (socket) setTimeout(() => socket.destroy(), connectMs).unref()
    },
  }
}

/** Connects and signs in, and sends nothing. What went wrong; undefined: nothing. */
export async function tryMailServer(server: MailServer): Promise<string | undefined> {
  const { connectMs } = server.limits ?? usualLimits
  try {
    const { smtp, socket } = await within(connectMs, (onBegun) => openConnection(server, onBegun))
    smtp.quit()
    socket.destroySoon()
    return undefined
  } catch (error) {
    return readable(describe(error))
  }
}

/** Rejects when the time is over, after giving up what was begun. */
async function within<Result>(
  timeMs: number,
  work: (onBegun: (giveUp: () => void) => void) => Promise<Result>,
): Promise<Result> {
  let giveUp = () => {}
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    giveUp()
    reject(new MailTrouble(`the mail server took longer than ${timeMs / 1000} s`))
  }, timeMs)
  try {
    return await Promise.race([promise, work((given) => (giveUp = given))])
  } finally {
    clearTimeout(timer)
  }
}

async function openConnection(
  { host, port, isSecure, isTlsNeeded, login, ca }: MailServer,
  onBegun: (giveUp: () => void) => void,
): Promise<OpenConnection> {
  const socket = connect({ host, port })
  onBegun(() => socket.destroy())
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    const Connection = await nodemailer.connection()
    const smtp = new Connection({
      host,
      port,
      secure: isSecure,
      requireTLS: isTlsNeeded,
      connection: socket,
      logger: false,
      tls: { ...(ca !== undefined && { ca }), ...(isIP(host) === 0 && { servername: host }) },
    })
    await settled(smtp, (done) => smtp.connect(done))
    if (login) await settled(smtp, (done) => smtp.login({ user: login.user, pass: login.password }, done))
    // An error event without a listener would end the process.
    smtp.on('error', () => {})
    return { smtp, socket }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** The library reports errors by the callback or as an event. */
function settled(smtp: SMTPConnection, begin: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => finish(error)
    const ended = () => finish(new MailTrouble('the mail server closed the connection'))
    const finish = (error?: Error | null) => {
      smtp.off('error', fail).off('end', ended)
      if (error) reject(error)
      else resolve()
    }
    smtp.on('error', fail).on('end', ended)
    begin(finish)
  })
}

function handOver(
  smtp: SMTPConnection,
  envelope: { from: string; to: string },
  message: Buffer,
): Promise<void> {
  return settled(smtp, (done) => smtp.send({ ...envelope, size: message.length }, message, done))
}

async function compose(
  { from }: MailServer,
  { id, to, subject, text, html, headers }: OutgoingMail,
): Promise<Buffer> {
  const domain = from.address.slice(from.address.indexOf('@') + 1)
  const Composer = await nodemailer.composer()
  const composer = new Composer({
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    headers,
    messageId: `<${id}@${domain}>`,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

interface SmtpError extends Error {
  readonly responseCode?: number
  readonly command?: string
}

/** Only a rejection of the recipient or the message is final. The operator must fix everything else. */
function sendingAfter(error: unknown): Sending {
  const { responseCode = 0, command = '' } = error as SmtpError
  const isAboutThis = command === 'RCPT TO' || command === 'DATA'
  const kind = isAboutThis && responseCode >= 500 ? 'refused' : 'postponed'
  return { kind, reason: readable(describe(error)) }
}
