import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBillLines } from './bill-lines.ts'

const heads = 'time,kind,transactionId,paymentId,orderNo,refundId,referRefundNo,currency,amount\r\n'

test('lines come as they were before the file was made safe for spreadsheets; balances are no lines', () => {
  const csv = [
    heads,
    ',opening,,,,,,USD,0.00\r\n',
    `2026-11-16T23:00:00.000Z,payment,T1,P1,"'=1+1,""two""; three",,,USD,25.00\r\n`,
    `2026-11-16T23:00:01.000Z,refund,T2,P1,"a;'-b",R1,'@home,USD,-5.00\r\n`,
    ',late,,,,,,USD,1.00\r\n',
    ',closing,,,,,,USD,21.00\r\n',
  ].join('')
  const [payment, refund, late, ...more] = readBillLines(csv)
  assert.deepEqual(payment, {
    kind: 'payment',
    time: Date.parse('2026-11-16T23:00:00Z'),
    transactionId: 'T1',
    paymentId: 'P1',
    orderNo: '=1+1,"two"; three',
    refundId: undefined,
    referRefundNo: undefined,
    currency: 'USD',
    amount: '25.00',
  })
  assert.deepEqual([refund?.orderNo, refund?.referRefundNo, refund?.amount], ['a;-b', '@home', '-5.00'])
  assert.deepEqual([late?.kind, late?.time, late?.amount], ['late', undefined, '1.00'])
  assert.deepEqual(more, [])
})

test('a column that came later is no trouble, and what is no such file is said', () => {
  const [line] = readBillLines('new,kind,currency,amount\r\nx,payment,EUR,1.00\r\n')
  assert.deepEqual([line?.kind, line?.amount], ['payment', '1.00'])
  assert.deepEqual([...readBillLines('')], [])
  assert.throws(() => [...readBillLines(`${heads}"broken`)], SyntaxError)
})
