// Requests to Alipay's gateway (OpenAPI 2.0), signed with RSA2 in both directions.
import type { KeyObject } from 'node:crypto'
import { ProviderUnavailable } from '@tillgate/rail-kit/provider'
import { Refused, request as send, twice } from '@tillgate/rail-kit/request'
import { isSignedBy, signed } from '@tillgate/rail-kit/rsa'

export interface AlipayAccess {
  readonly appId: string
  readonly privateKey: KeyObject
  /** Alipay's key, not the app's. */
  readonly alipayPublicKey: KeyObject
  readonly gatewayUrl: string
}

export interface AlipayRequest {
  readonly method: string
  readonly content: Readonly<Record<string, unknown>>
  readonly atMs: number
  /** Public parameters, such as `notify_url`. */
  readonly parameters?: Readonly<Record<string, string>>
}

type Parameters = Readonly<Record<string, string>>

const systemErrors = new Set(['ACQ.SYSTEM_ERROR', 'AQC.SYSTEM_ERROR', 'SYSTEM_ERROR'])

/** The URL of a page. The same request always has the same URL. */
export function pageUrl(access: AlipayAccess, request: AlipayRequest): string {
  const url = new URL(access.gatewayUrl)
  url.search = new URLSearchParams(signedParameters(access, request)).toString()
  return url.href
}

/** Every call is safe to repeat: Alipay recognizes our numbers. */
export function callAlipay<Answer>(access: AlipayAccess, request: AlipayRequest): Promise<Answer> {
  return twice(() => callOnce<Answer>(access, request))
}

async function callOnce<Answer>(access: AlipayAccess, request: AlipayRequest): Promise<Answer> {
  const { biz_content = '', ...inAddress } = signedParameters(access, request)
  const url = new URL(access.gatewayUrl)
  url.search = new URLSearchParams(inAddress).toString()
  const { bytes } = await send('Alipay', url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded;charset=utf-8' },
    body: new URLSearchParams({ biz_content }).toString(),
  })
  const answer = readAnswer(bytes.toString(), request.method, access.alipayPublicKey)
  if (answer.code === '10000') return answer as Answer
  const { code, msg, sub_code: subCode = '', sub_msg: subMsg } = answer
  const words = `${subMsg ?? msg ?? 'no reason'} (${subCode || code})`
  if (code === '40004' && !systemErrors.has(subCode)) throw new Refused(words, subCode)
  throw new ProviderUnavailable(`Alipay returned ${words}`)
}

interface Answered {
  readonly code?: string
  readonly msg?: string
  readonly sub_code?: string
  readonly sub_msg?: string
}

const envelope =
  /^\s*\{\s*"([a-z_]+_response)"\s*:\s*(\{[\s\S]*\})\s*,\s*(?:"alipay_cert_sn"\s*:\s*"\w+"\s*,\s*)?"sign"\s*:\s*"([\w+/=\\]+)"\s*\}\s*$/

/** Reads only the text that the signature covers. */
export function readAnswer(text: string, method: string, alipayPublicKey: KeyObject): Answered {
  const [, name, content, sign] = envelope.exec(text) ?? []
  if (content === undefined || sign === undefined || name !== `${method.replaceAll('.', '_')}_response`)
    throw new ProviderUnavailable(
      `Alipay returned something else than a signed answer: ${text.slice(0, 200)}`,
    )
  // JSON may escape the slashes in base64.
  if (!isSignedBy(alipayPublicKey, content, sign.replaceAll('\\/', '/')))
    throw new ProviderUnavailable('the signature of Alipay’s answer is wrong')
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw new ProviderUnavailable('Alipay returned something else than JSON', { cause })
  }
}

function signedParameters(access: AlipayAccess, request: AlipayRequest): Parameters {
  const given: Parameters = {
    app_id: access.appId,
    method: request.method,
    format: 'JSON',
    charset: 'utf-8',
    sign_type: 'RSA2',
    timestamp: beijingTime(request.atMs),
    version: '1.0',
    ...request.parameters,
    biz_content: JSON.stringify(request.content),
  }
  return { ...given, sign: signed(signedText(given), access.privateKey) }
}

/** `name=value` sorted by name and joined with `&`. */
export function signedText(parameters: Parameters): string {
  return Object.keys(parameters)
    .sort()
    .map((name) => `${name}=${parameters[name]}`)
    .join('&')
}

/** `yyyy-MM-dd HH:mm:ss` in Alipay's time zone, UTC+8. */
export function beijingTime(atMs: number): string {
  return new Date(atMs + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
}
