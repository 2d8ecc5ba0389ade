import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOfReturnUrl } from './return-url.ts'

const live = { mode: 'live', channel: 'WEB' } as const
const app = { mode: 'live', channel: 'APP' } as const

test('live mode allows any https URL, with any port and host', () => {
  for (const url of [
    'https://shop.example/thanks?a=1#top',
    'https://shop.example:8443/thanks',
    'HTTPS://Shop.Example/',
    'https://10.0.0.1/kiosk',
    'https://localhost:3000/',
    'https://läden.example/dankе',
  ])
    assert.equal(refusalOfReturnUrl(url, live), undefined, url)
})

test('only the sandbox allows http', () => {
  assert.equal(refusalOfReturnUrl('http://localhost:3000/', { ...live, mode: 'sandbox' }), undefined)
  for (const channel of ['WEB', 'APP'] as const)
    assert.equal(refusalOfReturnUrl('http://shop.example/', { mode: 'live', channel }), 'use https')
})

test('orders of the channel APP may use the app’s own scheme', () => {
  for (const url of [
    'shopapp://order/thanks?a=1',
    'com.shop.example:/thanks',
    'shop-app:thanks',
    'ShopApp://x',
  ]) {
    assert.equal(refusalOfReturnUrl(url, app), undefined, url)
    assert.match(refusalOfReturnUrl(url, live) ?? '', /is for orders of the channel APP/, url)
  }
})

test('URLs that a browser would execute or read locally are rejected in every spelling', () => {
  for (const url of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'javascript://shop.example/%0aalert(1)',
    'vbscript:x',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://shop.example/1',
    'filesystem:https://shop.example/x',
    'about:blank',
    'view-source:https://shop.example/',
    'intent://scan#Intent;scheme=x;end',
    'ms-msdt:/id',
    'mailto:a@shop.example',
    'ftp://shop.example/',
  ])
    for (const channel of ['WEB', 'APP'] as const)
      assert.match(
        refusalOfReturnUrl(url, { mode: 'sandbox', channel }) ?? '',
        /does not open|absolute URL|user name/,
        url,
      )
})

test('relative URLs and URLs with hidden parts are rejected', () => {
  for (const url of [
    'thanks',
    '/thanks',
    '//shop.example/',
    'https:shop.example',
    'https://',
    'shopapp:',
    'a b:c',
  ])
    assert.ok(refusalOfReturnUrl(url, app), url)
  for (const url of [' https://shop.example/', 'https://shop.example\\@x/', 'java\tscript:alert(1)'])
    assert.match(refusalOfReturnUrl(url, app) ?? '', /cannot contain spaces, control characters/, url)
  assert.match(refusalOfReturnUrl('https://shop@other.example/', app) ?? '', /user name/)
})
