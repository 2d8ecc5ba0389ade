import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAddress, parseUrlPolicy } from '../../../platform/runtime/ssrf-guard.ts'
import { detailForMerchant } from './attempt-detail.ts'

const shown = (outcome: string, detail: string) => detailForMerchant({ outcome, detail })

test('merchants do not see the IP address of a host', () => {
  const live = parseUrlPolicy({ mode: 'live', allowedTargets: [] })
  const target = { hostname: 'erp.internal.example', port: 443 }
  for (const address of ['10.1.2.3', 'fd12:3456::7', '169.254.169.254', '127.0.0.1', '::ffff:10.1.2.3']) {
    const check = checkAddress(address, target, live)
    assert(check.kind === 'refused')
    assert.equal(shown('address_not_public', check.detail), undefined)
  }
})

test('IP addresses are removed from network errors, and the rest is kept', () => {
  for (const [detail, expected] of [
    ['connect ECONNREFUSED 10.1.2.3:443', 'connect ECONNREFUSED'],
    ['connect ECONNREFUSED ::1:8443', 'connect ECONNREFUSED'],
    ['connect EHOSTUNREACH fd12:3456::7:443 - Local (:::0)', 'connect EHOSTUNREACH - Local ()'],
    ['connect ETIMEDOUT [fd12:3456::7]:443', 'connect ETIMEDOUT'],
    ['connect ECONNREFUSED ::ffff:10.1.2.3:443', 'connect ECONNREFUSED'],
    [
      'connect ECONNREFUSED 10.1.2.3:443; connect ENETUNREACH fd00::1:443',
      'connect ECONNREFUSED; connect ENETUNREACH',
    ],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID: Host: a.example. is not in the cert’s altnames: DNS:b.example, IP Address:10.1.2.3',
      'ERR_TLS_CERT_ALTNAME_INVALID: Host: a.example. is not in the cert’s altnames: DNS:b.example, IP Address:',
    ],
  ] as const)
    assert.equal(shown('connect', detail), expected)
})

test('texts without an address are not changed', () => {
  for (const detail of [
    'CERT_HAS_EXPIRED: certificate has expired',
    '5000 ms passed while connecting',
    'queryA ENOTFOUND shop.example',
    '15000 ms passed after HTTP 200 and 12 bytes of its answer',
    'HPE_INVALID_CONSTANT: Expected HTTP/',
    'use port 443',
  ])
    assert.equal(shown('tls', detail), detail)
  assert.equal(detailForMerchant({ outcome: 'acknowledged', detail: undefined }), undefined)
})
