// Notices in German.
import type { NoticeWords } from './words.ts'

export const de: NoticeWords = {
  frame: {
    unsubscribe: 'Solche Nachrichten nicht mehr senden',
    automatic: 'Diese Nachricht wurde automatisch gesendet; Antworten werden nicht gelesen.',
    unsubscribed: 'Sie erhalten solche Nachrichten nicht mehr.',
  },
  'member-invitation': {
    subject: 'Ihre Einladung zu {merchant}',
    body: [
      '{inviter} lädt Sie ein, im Konto von {merchant} mitzuarbeiten.',
      'Wählen Sie ein Passwort, um anzunehmen. Der Link gilt einmal, bis {until}.',
      'Wenn Sie das nicht erwarten, tun Sie nichts: Ohne den Link kommt niemand hinein.',
    ],
    link: 'Einladung annehmen',
  },
  'member-recovery': {
    subject: 'Neues Passwort festlegen',
    body: [
      'Jemand, vermutlich Sie selbst, hat für diese Adresse ein neues Passwort angefordert.',
      'Der Link gilt einmal, bis {until}. Ihr Passwort bleibt, wie es ist, bis Sie ein anderes festlegen.',
      'Wenn Sie es nicht waren, tun Sie nichts.',
    ],
    link: 'Neues Passwort festlegen',
  },
  'application-question': {
    subject: 'Ihr Antrag: {business}',
    body: [
      'Wir haben eine Frage zum Antrag von {business}: {question}',
      'Bitte antworten Sie auf der Seite Ihres Antrags, deren Adresse Sie aufbewahrt haben.',
    ],
  },
  'application-rejected': {
    subject: 'Ihr Antrag: {business}',
    body: [
      'Der Antrag von {business} wurde abgelehnt: {reason}',
      'Sie können einen neuen stellen, wenn sich das geändert hat.',
    ],
  },
  'key-added': {
    subject: 'Ein Schlüssel wurde für {merchant} hinzugefügt',
    body: [
      'Dem Konto von {merchant} wurde am {time} ein neuer Schlüssel hinzugefügt: {key}.',
      'Wer den privaten Teil oder den geheimen Schlüssel hat, kann für {merchant} handeln. Wenn Sie nicht darum gebeten haben, melden Sie sich sofort bei den Betreibern dieses Dienstes.',
    ],
  },
  'bank-account-changed': {
    subject: 'Auszahlungen an {merchant} gehen auf ein anderes Bankkonto',
    body: [
      'Ab {time} gehen Auszahlungen an {merchant} in {currency} auf dieses Bankkonto: {account}.',
      'Bis dahin wird auf das bisherige Konto gezahlt. Wenn Sie nicht darum gebeten haben, melden Sie sich sofort bei den Betreibern dieses Dienstes: Noch lässt es sich aufhalten.',
    ],
  },
  'payout-paid': {
    subject: 'Eine Auszahlung an {merchant}: {amount}',
    body: [
      'Die Bank hat die Auszahlung {payoutId} über {amount} auf das Konto von {merchant} ausgeführt.',
      'Sie steht in Ihrem Kontoauszug hier und in ein bis zwei Tagen in dem Ihrer Bank.',
    ],
  },
  'payout-returned': {
    subject: 'Eine Auszahlung an {merchant} kam zurück',
    body: [
      'Die Bank hat die Auszahlung {payoutId} über {amount} zurückgeschickt: {reason}.',
      'Das Geld ist wieder in der Wallet von {merchant}. Bitte prüfen Sie das Bankkonto für Auszahlungen.',
    ],
  },
  'callback-host-failing': {
    subject: 'Callbacks erreichen {host} nicht',
    body: [
      'Callbacks von {merchant} an {host} schlagen seit {since} fehl. Die letzte Antwort: {reason}.',
      'Nichts geht verloren: Sie werden sieben Tage lang erneut versucht. Bitte prüfen Sie, ob {host} läuft und mit HTTP 200 antwortet.',
    ],
  },
  'callbacks-exhausted': {
    subject: 'Ein Callback wurde aufgegeben',
    body: [
      'Der Callback {event} der Zahlung {paymentId} konnte {host} in sieben Tagen nicht zugestellt werden und wird nicht mehr von selbst versucht.',
      'Weiteren von {merchant} kann es ebenso ergangen sein: Dies wird einmal am Tag gemeldet. Fragen Sie den Status Ihrer Bestellungen ab; Callbacks können auf Wunsch erneut gesendet werden.',
    ],
  },
  'registration-code': {
    subject: 'Ihr Code für eine neue Wallet',
    body: [
      'Jemand, wahrscheinlich Sie, möchte mit dieser Adresse eine Wallet eröffnen.',
      'Der Code gilt einmal und 15 Minuten lang. Geben Sie ihn auf der Seite ein, auf der Sie begonnen haben.',
      'Wenn Sie es nicht waren, tun Sie nichts: Ohne den Code entsteht keine Wallet.',
    ],
    link: 'Ihr Code',
  },
  'wallet-exists': {
    subject: 'Sie haben schon eine Wallet',
    body: [
      'Jemand, wahrscheinlich Sie, wollte mit dieser Adresse eine Wallet eröffnen. Es gibt schon eine, und nichts wurde geändert.',
      'Melden Sie sich mit dieser Adresse und Ihrer PIN an. Wenn Sie die PIN vergessen haben, fordern Sie auf der Anmeldeseite einen Code an.',
    ],
  },
  'pin-code': {
    subject: 'Ihr Code für eine neue PIN',
    body: [
      'Jemand, wahrscheinlich Sie, hat eine neue PIN für Ihre Wallet angefordert.',
      'Der Code gilt einmal und 15 Minuten lang. Ihre PIN bleibt, bis Sie eine andere setzen. Wir fragen nie am Telefon oder per Mail nach diesem Code.',
      'Wenn Sie es nicht waren, tun Sie nichts.',
    ],
    link: 'Ihr Code',
  },
  'pin-changed': {
    subject: 'Ihre PIN wurde geändert',
    body: [
      'Die PIN Ihrer Wallet wurde geändert, und alle anderen Geräte wurden abgemeldet.',
      'Wenn Sie es nicht waren, lassen Sie die Wallet sofort von ihrem Betreiber sperren.',
    ],
  },
  'new-device': {
    subject: 'Neue Anmeldung in Ihrer Wallet',
    body: [
      'Jemand, wahrscheinlich Sie, hat sich am {time} auf einem Gerät, das wir nicht kennen, in Ihrer Wallet angemeldet: {device}.',
      'Wenn Sie es nicht waren, ändern Sie sofort Ihre PIN und melden Sie sich unter Einstellungen überall ab, oder bitten Sie den Betreiber Ihrer Wallet, sie zu sperren.',
    ],
  },
  'refund-arrived': {
    subject: 'Erstattung von {merchant}: {amount}',
    body: [
      '{merchant} hat Ihnen {amount} erstattet. Das Geld ist in Ihrer Wallet.',
      'Bestellnummer: {orderNo}',
    ],
  },
  'withdrawal-returned': {
    subject: 'Ihre Auszahlung von {amount} kam zurück',
    body: [
      'Ihre Auszahlung von {amount} wurde nicht ausgeführt: {reason}',
      'Das Geld ist wieder in Ihrer Wallet. Bitte prüfen Sie das Bankkonto, bevor Sie es erneut versuchen.',
    ],
  },
  receipt: {
    subject: 'Ihre Zahlung an {merchant}: {amount}',
    body: [
      'Sie haben am {time} {amount} an {merchant} gezahlt.',
      'Bestellnummer: {orderNo}',
      'Zahlung: {paymentId}',
      'Sie haben diese Nachricht auf der Zahlungsseite angefordert. Ihre Adresse wurde nur dafür verwendet und wird nicht aufbewahrt.',
    ],
  },
}
