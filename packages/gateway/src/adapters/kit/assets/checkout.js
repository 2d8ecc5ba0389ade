// The checkout's script. The page works without it; this makes it live: the countdown by the server's clock, the
// status as it changes, the way back to the shop, and one submission for however many clicks.

const pollMs = { first: 2000, most: 15000 }
/** A stream that says nothing for so long is held back somewhere on the way. */
const silenceMs = 5000
/** After this long a form may be sent again: the browser was stopped, or the network is gone. */
const resendMs = 10000
const soonMs = 60000
const attemptMs = 3000
const language = document.documentElement.lang

/** The server's time, and the moment at which we learnt it. */
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
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const head = hours > 0 ? `${plain.format(hours)}:${two.format(minutes)}` : plain.format(minutes)
  return `${head}:${two.format(seconds % 60)}`
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
    if (clockText(leftMs) !== time.textContent || isSoon !== warned) {
      const [before, after] = countdown.dataset[isSoon ? 'soon' : 'left'].split('{time}')
      time.textContent = clockText(leftMs)
      text.replaceChildren(before, time, after)
      countdown.classList.toggle('soon', isSoon)
    }
    if (isSoon && !warned) announce(countdown.dataset.announce)
    warned = isSoon
    // The server decides that the time is over; we only ask it, and not more often than every second.
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
  // Whoever comes back by the browser's own button came to look.
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
    // Not while somebody is about to do something else, or looks elsewhere.
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

/** While a rail is at work its state is asked for now and again; the page changes where that did. */
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

/** In the reader's own zone. */
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

/** A second click on what is under way does nothing. The button is not disabled: its value must be sent. */
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

// A page that comes out of the browser's memory shows what was; it is made true again.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) refresh()
})

async function refresh() {
  const mine = ++refreshes
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'error' })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const main = page.getElementById('checkout')
    // A page that was overtaken by a newer one shows what is no longer so.
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

/** Events while they come; where they are refused or held back, questions. Nothing while nobody looks. */
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
    // Otherwise the browser connects again by itself.
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
