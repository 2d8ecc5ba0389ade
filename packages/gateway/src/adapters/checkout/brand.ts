// The operator's name and logo for every page that takes a payment. A page that asks for a PIN without them looks like
// phishing.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { EmvPlace } from '../../core/orders/rules/emv-code.ts'
import { checkLogo } from '../../finance/rails/rules/outside-rail.ts'
import { messageOf } from '../../platform/runtime/errors.ts'
import { exitCodes, StartFailure } from '../../platform/runtime/start-failure.ts'

/** As shown to consumers. */
export interface OperatorSettings {
  readonly name: string | undefined
  readonly logoFile: string | undefined
  readonly helpUrl: string | undefined
  readonly privacyUrl: string | undefined
  readonly imprintUrl: string | undefined
  readonly place: EmvPlace
}

export interface Brand extends Omit<OperatorSettings, 'logoFile'> {
  readonly logo: { readonly path: string; readonly svg: string } | undefined
}

const maxLogoBytes = 64 * 1024

export function readBrand({ logoFile, ...operator }: OperatorSettings): Brand {
  return { ...operator, logo: logoFile === undefined ? undefined : readLogo(logoFile) }
}

function readLogo(file: string): NonNullable<Brand['logo']> {
  try {
    const svg = readFileSync(file, 'utf8')
    if (Buffer.byteLength(svg) > maxLogoBytes) throw new Error('it is larger than 64 KiB')
    checkLogo(svg)
    const hash = createHash('sha256').update(svg).digest('hex').slice(0, 16)
    return { path: `/operator/mark.${hash}.svg`, svg }
  } catch (cause) {
    throw new StartFailure(`OPERATOR_LOGO_FILE ${file} cannot be used: ${messageOf(cause)}`, {
      exitCode: exitCodes.settings,
      cause,
    })
  }
}

export function serveBrand(listener: FastifyInstance, { logo }: Brand): void {
  if (!logo) return
  listener.get(logo.path, (_request, reply) =>
    reply
      .header('content-type', 'image/svg+xml')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('x-content-type-options', 'nosniff')
      .send(logo.svg),
  )
}
