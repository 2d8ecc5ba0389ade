// Shows the times of a page in the reader's time zone. Without this script they are in UTC.
const { lang } = document.documentElement
const exact = new Intl.DateTimeFormat(lang, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
})
const day = new Intl.DateTimeFormat(lang, { dateStyle: 'medium' })
// A day alone is the same everywhere, and a time with a title is relative.
for (const time of document.querySelectorAll('time[datetime*=T]:not([title])')) {
  time.title = time.dataset.utc ?? time.textContent
  time.textContent = (time.dataset.utc ? day : exact).format(new Date(time.dateTime))
}
