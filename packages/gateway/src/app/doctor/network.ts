// The doctor's checks of the network: the public address with its certificate, the proxy, the mail server and the
// identity providers.

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { Finding } from '../../adapters/cli/doctor.ts'
import { tryMailServer } from '../../platform/outbound/smtp.ts'
import { codeOf, messageOf } from '../../platform/runtime/errors.ts'
import type { Config } from '../settings/config.ts'
import { failed, ok, skipped, warning } from './findings.ts'
import { askHealth } from './machine.ts'

const dayMs = 86_400_000
const renewWithinDays = 14
const answersWithinMs = 5_000

export async function checkPublicUrl({ publicUrl }: Config): Promise<Finding[]> {
  if (publicUrl === undefined)
    return [skipped('public URL', 'PUBLIC_URL is not set, so the gateway serves only this machine.')]
  const { protocol, hostname, port } = new URL(publicUrl)
  const host = hostname.replace(/^\[|\]$/g, '')
  try {
    await lookup(host)
  } catch (error) {
    const fix = `Create a DNS record (A or AAAA) for ${host} that points to your proxy, or correct PUBLIC_URL.`
    return [failed('DNS', `${host}, the host of PUBLIC_URL, does not resolve: ${codeOf(error)}.`, fix)]
  }
  const dns = ok('DNS', `${host} resolves.`)
  if (protocol === 'http:') return [dns, skipped('TLS', 'PUBLIC_URL is http.')]
  const certificate = await checkCertificate(host, Number(port || 443))
  if (certificate.outcome === 'failed') return [dns, certificate]
  const health = await askHealth(publicUrl)
  if (health === 'alive') return [dns, certificate, ok('public URL', `A gateway responds at ${publicUrl}.`)]
  const fix = 'Start the gateway, and check the address to which the proxy passes requests.'
  return [dns, certificate, warning('public URL', `No gateway responds at ${publicUrl}: ${health}.`, fix)]
}

async function checkCertificate(host: string, port: number): Promise<Finding> {
  const at = `${host}:${port}`
  let socket: TLSSocket | undefined
  try {
    socket = connect({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 && { servername: host }) })
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(answersWithinMs) })
    const { valid_to: validTo } = socket.getPeerCertificate()
    const refusal = socket.authorized ? undefined : codeOrText(socket.authorizationError)
    if (refusal !== undefined)
      return failed(
        'TLS',
        `Browsers reject the certificate at ${at}: ${refusal}.`,
        fixOfCertificate(refusal, host),
      )
    const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs)
    const found = `The certificate at ${at} expires in ${days} days.`
    if (days > renewWithinDays) return ok('TLS', found)
    return warning('TLS', found, 'Renew the certificate, and check why it was not renewed automatically.')
  } catch (error) {
    const fix = `Start the proxy that serves https on port ${port}, and open the port in the firewall.`
    return failed('TLS', `No TLS at ${at}: ${codeOf(error) ?? messageOf(error)}.`, fix)
  } finally {
    socket?.destroy()
  }
}

/** Node.js returns a code, an error, or text. */
function codeOrText(reason: unknown): string {
  return codeOf(reason) ?? String(reason)
}

function fixOfCertificate(refusal: string, host: string): string {
  if (refusal === 'CERT_HAS_EXPIRED') return 'Renew the certificate at the proxy, and reload the proxy.'
  if (refusal === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `Install a certificate for ${host}, or correct PUBLIC_URL.`
  return 'Install a certificate of a public authority with its intermediate certificates.'
}

/** The gateway does not speak TLS, so an https address means a proxy. */
export function checkProxy({ publicUrl, trustedProxies }: Config): Finding {
  const wide = trustedProxies.find((range) => isWide(range))
  if (wide !== undefined)
    return failed(
      'proxy',
      `TRUSTED_PROXIES has ${wide}, a range so wide that strangers can claim any client address.`,
      'List only the addresses of your proxies in TRUSTED_PROXIES.',
    )
  if (publicUrl?.startsWith('https:') && trustedProxies.length === 0)
    return failed(
      'proxy',
      'PUBLIC_URL is https, so there is a proxy, but TRUSTED_PROXIES is empty: all clients share the proxy’s address and its limits.',
      'Set TRUSTED_PROXIES to the address of the proxy.',
    )
  return ok('proxy', trustedProxies.length === 0 ? 'No proxy.' : `Trusted: ${trustedProxies.join(', ')}.`)
}

function isWide(range: string): boolean {
  const [address = '', bits] = range.split('/')
  return bits !== undefined && Number(bits) < (isIP(address) === 6 ? 16 : 8)
}

export async function checkMail({ mail }: Config): Promise<Finding> {
  if (!mail) return skipped('mail', 'SMTP_URL is not set: no email is sent.')
  const at = `${mail.host}:${mail.port}`
  const trouble = await tryMailServer(mail)
  if (trouble === undefined) return ok('mail', `The mail server at ${at} accepts the gateway.`)
  const fix = /auth|password|login|credential|\b53\d\b/i.test(trouble)
    ? 'Correct the user and password in SMTP_URL (special characters percent-encoded).'
    : 'Correct host, port and scheme (smtp or smtps) in SMTP_URL, and open the way to the mail server.'
  return failed('mail', `The mail server at ${at} rejects the gateway: ${trouble}.`, fix)
}

export async function checkProviders({ openId, memberOpenId }: Config): Promise<Finding[]> {
  const providers = [
    { setting: 'OIDC_ISSUER', issuer: openId?.issuer },
    { setting: 'MEMBER_OIDC_ISSUER', issuer: memberOpenId?.issuer },
  ]
  const found = await Promise.all(
    providers.map(async ({ setting, issuer }) => {
      if (issuer === undefined) return []
      const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
      const answer = await fetch(url, { signal: AbortSignal.timeout(answersWithinMs) })
        .then(({ status }) => `HTTP ${status}`)
        .catch((error: Error) => messageOf(error.cause ?? error))
      if (answer === 'HTTP 200') return ok('sign-in', `The identity provider ${issuer} responds.`)
      return failed(
        'sign-in',
        `${url} does not respond: ${answer}.`,
        `Correct ${setting}, or start the provider.`,
      )
    }),
  )
  return found.flat()
}
