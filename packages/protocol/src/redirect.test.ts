import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherPair, pair } from '../test/keys.ts'
import { type RedirectParameters, signRedirect, verifyRedirect } from './redirect.ts'

const parameters: RedirectParameters = {
  paymentId: 'P01K7EDDN2KVJMNRAVP2TY1HX0E',
  referOrderNo: 'A-1 & Söhne=2',
  status: 'success',
  timestamp: '1760000000000',
}

test('signed parameters verify, with the present or the previous key', async () => {
  const signed = await signRedirect(parameters, pair.privateKey)
  assert.deepEqual(await verifyRedirect(signed, [pair.publicKey]), parameters)
  assert.deepEqual(await verifyRedirect(signed, [otherPair.publicKey, pair.publicKey]), parameters)
  assert.equal(await verifyRedirect(signed, [otherPair.publicKey]), undefined)
  assert.equal(await verifyRedirect(signed, []), undefined)
})

test('no changed, missing or malformed parameter verifies', async () => {
  const signed = await signRedirect(parameters, pair.privateKey)
  const changes: Record<string, unknown>[] = [
    { status: 'failed' },
    { status: 'toString' },
    { paymentId: 'P01K7EDDN2KVJMNRAVP2TY1HX0F' },
    { paymentId: 'P1&referOrderNo=x' },
    { paymentId: 'P'.repeat(33) },
    { referOrderNo: 'A-2' },
    { referOrderNo: '' },
    { timestamp: '1760000000001' },
    { timestamp: 'x' },
    { sign: 'QUJD' },
    { sign: '' },
  ]
  for (const change of changes)
    assert.equal(await verifyRedirect({ ...signed, ...change }, [pair.publicKey]), undefined)
  for (const name of Object.keys(signed)) {
    for (const value of [undefined, 1, ['x']]) {
      assert.equal(await verifyRedirect({ ...signed, [name]: value }, [pair.publicKey]), undefined, name)
    }
  }
})

test('an order number that looks like parameters does not change the status', async () => {
  const referOrderNo = 'A&status=success&timestamp=1760000000000'
  const signed = await signRedirect({ ...parameters, referOrderNo, status: 'failed' }, pair.privateKey)
  const forged = { ...signed, referOrderNo: 'A', status: 'success&timestamp=1760000000000&status=failed' }
  assert.equal(await verifyRedirect(forged, [pair.publicKey]), undefined)
  assert.equal((await verifyRedirect(signed, [pair.publicKey]))?.status, 'failed')
})
