// Der Checkout auf Deutsch.
import { plural } from '../../../http/languages/plural.ts'
import type { Words } from '../words.ts'

export const de: Words = {
  title: 'An {merchant} zahlen',
  sandbox: 'Testumgebung: Es fließt kein echtes Geld.',
  language: 'Sprache',
  time: {
    left: 'Noch {time} zum Bezahlen',
    soon: 'Nur noch {time} zum Bezahlen',
    announceSoon: 'Noch weniger als eine Minute zum Bezahlen.',
  },
  signIn: {
    heading: 'Mit Ihrer Wallet bezahlen',
    login: 'Telefonnummer oder E-Mail',
    pin: 'PIN',
    submit: 'Weiter',
    next: 'Sie sehen zuerst Ihr Guthaben. Noch wird nichts bezahlt.',
    instead: 'Bei einer Wallet anmelden',
  },
  rails: {
    heading: 'Wie möchten Sie bezahlen?',
    go: 'Weiter zu {rail}',
    waiting: 'Warten auf {rail}',
    text: 'Diese Seite ändert sich von selbst, sobald {rail} die Zahlung bestätigt hat. Sie können auch später zurückkommen.',
    starting: 'Verbindung zu {rail} wird hergestellt',
    leaving: 'Zahlung bei {rail} wird beendet',
    another: 'Anders bezahlen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    code: 'QR-Code zum Bezahlen mit {rail}',
    declined:
      '{rail} hat die Zahlung nicht angenommen. Es wurde kein Geld abgebucht; bitte wählen Sie eine andere Zahlungsart.',
  },
  testWallets: {
    heading: 'Mit einer Test-Wallet bezahlen',
    hint: 'Ein Tipp bezahlt. Jede Wallet verhält sich immer gleich.',
    approves: { name: 'Bezahlt', does: 'Die Zahlung gelingt sofort.' },
    declines: { name: 'Lehnt ab', does: 'Die Zahlung scheitert, es wird nichts abgebucht.' },
    too_little_money: {
      name: 'Hat zu wenig Guthaben',
      does: 'Die Bestellung bleibt für eine andere Wallet offen.',
    },
    confirms_later: { name: 'Lässt sich Zeit', does: 'Gelingt nach fünf Sekunden.' },
    refund_fails: {
      name: 'Bezahlt, verweigert Erstattung',
      does: 'Gelingt; eine spätere Erstattung scheitert.',
    },
  },
  confirm: {
    heading: 'Hallo, {name}',
    balance: 'Ihr Guthaben',
    after: 'Bleibt nach der Zahlung',
    pay: '{amount} bezahlen',
    otherWallet: 'Andere Wallet verwenden',
    tooLittle: 'Ihr Guthaben reicht nicht aus: Es fehlen {missing}.',
    tooLittleNext: 'Laden Sie Ihre Wallet auf und diese Seite neu, oder verwenden Sie eine andere Wallet.',
  },
  confirming: {
    status: 'In Bearbeitung',
    heading: 'Ihre Zahlung wird bearbeitet.',
    text: 'Das Geld ist zurückgelegt. Diese Seite ändert sich von selbst, sobald es so weit ist; Sie müssen nicht noch einmal zahlen.',
  },
  success: {
    status: 'Bezahlt',
    heading: 'Fertig. Sie haben {merchant} bezahlt.',
    transaction: 'Transaktion',
    refunded: '{amount} wurden auf Ihre Wallet erstattet.',
    refunding: '{amount} werden gerade auf Ihre Wallet erstattet.',
  },
  failed: {
    status: 'Fehlgeschlagen',
    heading: 'Die Zahlung hat nicht geklappt.',
    text: 'Es wurde kein Geld abgebucht.',
    reason: 'Grund: {reason}',
    declined: 'Die Wallet hat die Zahlung abgelehnt.',
    next: 'Um es noch einmal zu versuchen, bestellen Sie im Shop neu.',
  },
  timeout: {
    status: 'Abgelaufen',
    heading: 'Die Zeit zum Bezahlen ist vorbei.',
    text: 'Es wurde kein Geld abgebucht.',
    next: 'Wenn Sie weiterhin kaufen möchten, bestellen Sie im Shop neu.',
  },
  cancelled: {
    status: 'Storniert',
    heading: '{merchant} hat diese Bestellung storniert.',
    text: 'Es wurde kein Geld abgebucht.',
    next: 'Wenn Sie das nicht erwartet haben, fragen Sie im Shop nach.',
  },
  suspended: {
    status: 'Nicht verfügbar',
    heading: 'Dieser Shop kann zurzeit keine Zahlungen annehmen.',
    text: 'Es wurde kein Geld abgebucht. Bitte fragen Sie im Shop nach.',
  },
  back: {
    button: 'Zurück zu {merchant}',
    soon: 'Zurück zu {merchant} in {time}',
    stay: 'Hier bleiben',
    staying: 'Sie bleiben auf dieser Seite.',
    close: 'Sie können diese Seite schließen.',
  },
  notices: {
    goOn: 'Sie werden zur Seite weitergeleitet, auf der Sie bezahlen.',
    railGone:
      'Diese Zahlungsart ist gerade nicht verfügbar. Es wurde kein Geld abgebucht; bitte wählen Sie eine andere.',
    railBusy: 'Die begonnene Zahlung wird noch beendet. Bitte warten Sie einen Moment.',
    wrong: 'Anmeldung oder PIN ist falsch. Es wurde kein Geld abgebucht; bitte versuchen Sie es noch einmal.',
    lockedUntil:
      'Es gab zu viele falsche Versuche. Es wurde kein Geld abgebucht; bitte versuchen Sie es {when} wieder.',
    locked:
      'Diese Wallet ist gesperrt. Es wurde kein Geld abgebucht. Fragen Sie beim Anbieter Ihrer Wallet nach, oder verwenden Sie eine andere.',
    tooLittle:
      'Diese Wallet hat zu wenig Guthaben. Es wurde kein Geld abgebucht; bitte verwenden Sie eine andere.',
    alreadyPaid: 'Diese Bestellung war schon bezahlt. Es wurde nichts ein zweites Mal abgebucht.',
    alreadyProcessing: 'Diese Bestellung wird schon bezahlt. Es wird nichts ein zweites Mal abgebucht.',
    gone: 'Die Bestellung war vorbei, bevor Ihre Zahlung ankam. Es wurde kein Geld abgebucht.',
    again:
      'Diese Seite war zu lange offen, oder Cookies sind ausgeschaltet. Es wurde kein Geld abgebucht; bitte versuchen Sie es noch einmal.',
    signedOut:
      'Zum Schutz Ihrer Wallet wurden Sie abgemeldet. Es wurde kein Geld abgebucht; bitte melden Sie sich wieder an.',
    busy: 'Zu viele Versuche auf einmal. Es wurde kein Geld abgebucht; bitte warten Sie kurz und versuchen Sie es dann noch einmal.',
    offline: 'Keine Verbindung. Es geht weiter, sobald Sie wieder online sind.',
  },
  phone: {
    heading: 'Auf dem Handy weiter',
    text: 'Mit der Kamera scannen und dort bezahlen.',
    code: 'QR-Code mit der Adresse dieser Seite',
  },
  details: {
    heading: 'Bestelldetails',
    items: plural({ one: '{count} Artikel', other: '{count} Artikel' }),
    number: 'Bestellnummer',
    each: '{quantity} × {amount}',
    taxEach: 'enthält je {amount} Steuer',
    subtotal: 'Waren',
    tips: 'Trinkgeld',
    discount: 'Rabatt',
    tax: 'Steuer',
    insurance: 'Versicherung',
    handling: 'Bearbeitung',
    shipping: 'Versand',
    shippingDiscount: 'Rabatt auf den Versand',
    total: 'Zu zahlen',
    SHIPPING: 'Lieferung an',
    PICKUP_IN_STORE: 'Abholung im Geschäft durch',
    PICKUP_FROM_PERSON: 'Abholung bei einer Person durch',
  },
  notFound: {
    heading: 'Dieser Link führt ins Leere.',
    text: 'Vielleicht ist er unvollständig oder vertippt. Es wurde kein Geld abgebucht.',
    next: 'Gehen Sie zurück in den Shop und öffnen Sie den Checkout von dort.',
  },
  trouble: {
    heading: 'Bei uns ist etwas schiefgegangen.',
    text: 'Wenn Sie schon auf Bezahlen gedrückt hatten, zahlen Sie nicht anderswo noch einmal: Diese Seite zeigt, ob es geklappt hat.',
    again: 'Noch einmal nachsehen',
  },
  tooMany: {
    heading: 'Einen Moment bitte.',
    text: 'Es waren zu viele Anfragen. Durch diese wurde kein Geld abgebucht. Versuchen Sie es in {time} noch einmal.',
    again: 'Noch einmal versuchen',
  },
}
