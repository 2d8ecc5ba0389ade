// The checkout's script. The page works without it. The script adds the countdown by the server's clock, the live
// status, the return to the shop, and protection against double submission.

const pollMs = { first: 2000, most: 15000 }
/** A stream that is silent for this long is buffered somewhere. */
const silenceMs = 5000
/** After this time a form may be sent again: the browser stopped, or the network failed. */
const resendMs = 10000
const soonMs = 60000
/** The countdown is hidden before the last hour. */
const shownMs = 3600000
const attemptMs = 3000
const language = document.documentElement.lang

/** The server's time, and when it was received. */
let server = { now: 0, at: 0 }
let expiresAt = 0
let shown = ''
let path = ''
let stopState = () => {}
let stopFollowing = () => {}
let refreshes = 0

function serverNow() {
  return server.now + (performance.now() - server.at)
}

function learnTime(now) {
  server = { now, at: performance.now() }
}

function start() {
  stopState()
  const main = document.getElementById('checkout')
  if (!main) return
  shown = main.dataset.status
  path = main.dataset.path
  expiresAt = Number(main.dataset.expires)
  learnTime(Number(main.dataset.now))
  writeTimes()
  offerPrint()
  const stops = [startCountdown(), startReturn(), guardForms(), followAttempt(main), offerCopies()]
  stopState = () => {
    for (const stop of stops) stop?.()
  }
}

/** Minutes and seconds in the reader's digits. */
const two = new Intl.NumberFormat(language, { minimumIntegerDigits: 2, useGrouping: false })
const plain = new Intl.NumberFormat(language, { useGrouping: false })

function clockText(leftMs) {
  const seconds = Math.max(0, Math.ceil(leftMs / 1000))
  return `${plain.format(Math.floor(seconds / 60))}:${two.format(seconds % 60)}`
}

function startCountdown() {
  const countdown = document.getElementById('countdown')
  if (!countdown) return undefined
  const text = countdown.querySelector('span')
  const time = document.createElement('bdi')
  let warned = countdown.classList.contains('soon')
  let asked = 0
  const tick = () => {
    const leftMs = expiresAt - serverNow()
    const isSoon = leftMs <= soonMs
    countdown.hidden = leftMs >= shownMs
    if (clockText(leftMs) !== time.textContent || isSoon !== warned) {
      const [before, after] = countdown.dataset[isSoon ? 'soon' : 'left'].split('{time}')
      time.textContent = clockText(leftMs)
      text.replaceChildren(before, time, after)
      countdown.classList.toggle('soon', isSoon)
    }
    if (isSoon && !warned) announce(countdown.dataset.announce)
    warned = isSoon
    // The server decides about expiry; the script only asks, at most once a second.
    if (leftMs <= 0 && Date.now() - asked >= 1000) {
      asked = Date.now()
      ask().catch(() => {})
    }
  }
  tick()
  const timer = setInterval(tick, 250)
  return () => clearInterval(timer)
}

function announce(text) {
  const live = document.getElementById('live')
  if (live) live.textContent = text
}

function startReturn() {
  const back = document.getElementById('back')
  const returning = document.getElementById('returning')
  // A consumer who used the browser's back button wants to see the page.
  if (!back || !returning || history.state?.returned) return undefined
  const time = returning.querySelector('[data-time]')
  const stay = returning.querySelector('button')
  const area = returning.parentElement
  const seconds = new Intl.NumberFormat(language, { style: 'unit', unit: 'second', unitDisplay: 'long' })
  let left = Number(returning.dataset.seconds)
  const show = () => {
    time.textContent = seconds.format(left)
  }
  const tick = () => {
    // Not while the consumer uses the page or looks elsewhere.
    if (document.hidden || area.matches(':hover') || area.contains(document.activeElement)) return
    left -= 1
    show()
    if (left > 0) return
    stop()
    history.replaceState({ returned: true }, '')
    location.assign(back.href)
  }
  const timer = setInterval(tick, 1000)
  const stop = () => clearInterval(timer)
  stay.addEventListener('click', () => {
    stop()
    returning.textContent = returning.dataset.stayed
    announce(returning.dataset.stayed)
    history.replaceState({ returned: true }, '')
  })
  show()
  returning.hidden = false
  return stop
}

/** Polls the state of a rail's payment and refreshes the page when it changes. */
function followAttempt(main) {
  const { attempt } = main.dataset
  if (!attempt) return undefined
  const timer = setInterval(async () => {
    if (document.hidden) return
    const response = await fetch(`${path}/status`, { headers: { accept: 'application/json' } }).catch(
      () => {},
    )
    if (!response?.ok) return
    const news = await response.json()
    if (news.attempt !== attempt && document.contains(main)) refresh()
  }, attemptMs)
  return () => clearInterval(timer)
}

function offerCopies() {
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = !navigator.clipboard
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy)
      button.textContent = button.dataset.copied
      announce(button.dataset.copied)
    })
  }
}

/** In the reader's time zone. */
function writeTimes() {
  const exact = new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  })
  for (const time of document.querySelectorAll('#checkout time')) {
    time.title = time.textContent
    time.textContent = exact.format(new Date(time.dateTime))
  }
}

function offerPrint() {
  const button = document.getElementById('print')
  if (!button) return
  button.hidden = false
  button.addEventListener('click', () => print())
}

/** Ignores a second click. The button is not disabled, because its value must be sent. */
function guardForms() {
  for (const form of document.forms) {
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) return event.preventDefault()
      form.dataset.sent = 'yes'
      event.submitter?.setAttribute('aria-busy', 'true')
      setTimeout(() => {
        delete form.dataset.sent
        event.submitter?.removeAttribute('aria-busy')
      }, resendMs)
    })
  }
}

// A page from the browser's cache is outdated, so it is refreshed.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) refresh()
})

async function refresh() {
  const mine = ++refreshes
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'error' })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const main = page.getElementById('checkout')
    // A newer refresh has started.
    if (mine !== refreshes) return
    if (!response.ok || !main) throw new Error('no page')
    if (!main.dataset.status) return
    const wasOpen = document.querySelector('details.summary')?.open
    const before = document.getElementById('checkout')
    const hadFocus = before.contains(document.activeElement)
    before.replaceWith(document.adoptNode(main))
    if (wasOpen) document.querySelector('details.summary').open = true
    document.title = page.title
    start()
    const heading = document.getElementById('state')
    if (hadFocus) heading?.focus()
    announce(heading?.textContent ?? '')
  } catch {
    location.reload()
  }
}

const isFinal = (status) => status !== 'pending' && status !== 'confirming'

function learn({ status, now, expiresAt: expires }) {
  learnTime(now)
  expiresAt = expires
  if (status === shown) return
  shown = status
  if (isFinal(status)) stopFollowing()
  refresh()
}

async function ask() {
  const response = await fetch(`${path}/status`, { headers: { accept: 'application/json' } })
  if (!response.ok) throw new Error('no status')
  learn(await response.json())
}

/** Uses the event stream, or polls if it is refused or buffered. Pauses while the page is hidden. */
function follow() {
  stopFollowing()
  if (isFinal(shown) || document.hidden) return
  const events = new EventSource(`${path}/events`)
  const silence = setTimeout(giveUp, silenceMs)
  stopFollowing = () => {
    clearTimeout(silence)
    events.close()
  }
  events.onmessage = (event) => {
    clearTimeout(silence)
    learn(JSON.parse(event.data))
  }
  events.onerror = () => {
    // Otherwise the browser reconnects automatically.
    if (events.readyState === EventSource.CLOSED) giveUp()
  }
  function giveUp() {
    stopFollowing()
    poll()
  }
}

function poll() {
  let waitMs = pollMs.first
  let timer = 0
  const next = () => {
    timer = setTimeout(async () => {
      await ask().then(
        () => {
          waitMs = pollMs.first
        },
        () => {
          waitMs = Math.min(waitMs * 2, pollMs.most)
        },
      )
      if (!isFinal(shown)) next()
    }, waitMs)
  }
  stopFollowing = () => clearTimeout(timer)
  next()
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) stopFollowing()
  else follow()
})
for (const event of ['offline', 'online']) {
  window.addEventListener(event, () => {
    const live = document.getElementById('live')
    live?.classList.toggle('hidden', event === 'online')
    announce(event === 'offline' ? live?.dataset.offline : '')
  })
}

start()
follow()
