import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherPair, pair } from '../test/keys.ts'
import { type RedirectParameters, signRedirect, verifyRedirect } from './redirect.ts'

const parameters: RedirectParameters = {
  merchantId: '100000000000000001',
  paymentId: 'P01K7EDDN2KVJMNRAVP2TY1HX0E',
  referOrderNo: 'A-1 & Söhne=2',
  status: 'success',
  timestamp: '1760000000000',
}
const { merchantId } = parameters
const expected = { publicKeys: [pair.publicKey], merchantId, nowMs: 1_760_000_000_000 }

test('signed parameters verify with the current or the previous key', async () => {
  const signed = await signRedirect(parameters, pair.privateKey)
  assert.deepEqual(await verifyRedirect(signed, expected), parameters)
  assert.deepEqual(
    await verifyRedirect(signed, { ...expected, publicKeys: [otherPair.publicKey, pair.publicKey] }),
    parameters,
  )
  assert.equal(await verifyRedirect(signed, { ...expected, publicKeys: [otherPair.publicKey] }), undefined)
  assert.equal(await verifyRedirect(signed, { ...expected, publicKeys: [] }), undefined)
})

test('changed, missing or malformed parameters do not verify', async () => {
  const signed = await signRedirect(parameters, pair.privateKey)
  const changes: Record<string, unknown>[] = [
    { status: 'failed' },
    { status: 'toString' },
    { paymentId: 'P01K7EDDN2KVJMNRAVP2TY1HX0F' },
    { paymentId: 'P1&referOrderNo=x' },
    { paymentId: 'P'.repeat(33) },
    { merchantId: '100000000000000002' },
    { merchantId: `${merchantId}&paymentId=P1` },
    { referOrderNo: 'A-2' },
    { referOrderNo: '' },
    { timestamp: '1760000000001' },
    { timestamp: 'x' },
    { sign: 'QUJD' },
    { sign: '' },
  ]
  for (const change of changes)
    assert.equal(await verifyRedirect({ ...signed, ...change }, expected), undefined)
  for (const name of Object.keys(signed)) {
    for (const value of [undefined, 1, ['x']]) {
      assert.equal(await verifyRedirect({ ...signed, [name]: value }, expected), undefined, name)
    }
  }
})

test('an order number that resembles parameters does not change the status', async () => {
  const referOrderNo = 'A&status=success&timestamp=1760000000000'
  const signed = await signRedirect({ ...parameters, referOrderNo, status: 'failed' }, pair.privateKey)
  const forged = { ...signed, referOrderNo: 'A', status: 'success&timestamp=1760000000000&status=failed' }
  assert.equal(await verifyRedirect(forged, expected), undefined)
  assert.equal((await verifyRedirect(signed, expected))?.status, 'failed')
})

test('a redirect for another merchant or another payment does not verify', async () => {
  const signed = await signRedirect(parameters, pair.privateKey)
  assert.equal(await verifyRedirect(signed, { ...expected, merchantId: '100000000000000002' }), undefined)
  assert.equal(await verifyRedirect(signed, { ...expected, paymentId: 'P1' }), undefined)
  assert(await verifyRedirect(signed, { ...expected, paymentId: parameters.paymentId }))
})

test('a redirect verifies for ten minutes, with a tolerance for slow clocks', async () => {
  const signed = await signRedirect(parameters, pair.privateKey)
  const verifiedAfter = async (ms: number) =>
    (await verifyRedirect(signed, { ...expected, nowMs: expected.nowMs + ms })) !== undefined
  assert.equal(await verifiedAfter(600_000), true)
  assert.equal(await verifiedAfter(600_001), false)
  assert.equal(await verifiedAfter(-600_000), true)
  assert.equal(await verifiedAfter(-600_001), false)
})
