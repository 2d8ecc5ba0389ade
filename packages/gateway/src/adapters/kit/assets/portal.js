// Scripts of the portal's forms. An RSA pair is created in the browser: the private key is never part of a request. It is
// offered as a file first, and then the public half is put into the form.
const maker = document.querySelector('#key-maker')

// Only over https and on localhost; elsewhere a key is pasted.
if (maker && globalThis.crypto?.subtle) {
  maker.hidden = false
  document.querySelector('#make-pair').addEventListener('click', make)
}

async function make({ target: button }) {
  button.disabled = true
  const pair = await crypto.subtle.generateKey(
    {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    },
    true,
    ['sign', 'verify'],
  )
  const privateKey = toPem('PRIVATE', await crypto.subtle.exportKey('pkcs8', pair.privateKey))
  const publicKey = toPem('PUBLIC', await crypto.subtle.exportKey('spki', pair.publicKey))
  const link = document.createElement('a')
  link.className = 'button primary'
  link.href = URL.createObjectURL(new Blob([privateKey], { type: 'application/octet-stream' }))
  link.download = 'private.pem'
  link.textContent = maker.dataset.save
  link.addEventListener('click', () => {
    document.querySelector('textarea[name=publicKey]').value = publicKey
  })
  button.replaceWith(link)
  document.querySelector('#key-progress').textContent = maker.dataset.saved
  link.focus()
}

function toPem(kind, bytes) {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return `-----BEGIN ${kind} KEY-----\n${base64.match(/.{1,64}/g).join('\n')}\n-----END ${kind} KEY-----\n`
}

// A payment link as customers will see it, while the member types.
const preview = document.querySelector('#link-preview')

if (preview) {
  const [, title, amount] = preview.querySelectorAll('p')
  const fields = document.querySelector('form.card').elements
  const show = () => {
    title.textContent = fields.title.value || fields.title.placeholder
    amount.textContent = fields.amount.value ? written(fields) : preview.dataset.open
  }
  preview.hidden = false
  document.querySelector('form.card').addEventListener('input', show)
  show()
}

function written({ amount, currency }) {
  const decimal = amount.value.replace(',', '.')
  if (!currency.value || Number.isNaN(Number(decimal))) return `${amount.value} ${currency.value}`
  const { lang } = document.documentElement
  return new Intl.NumberFormat(lang, { style: 'currency', currency: currency.value }).format(decimal)
}
