// Notices in Japanese.
import type { NoticeWords } from './words.ts'

export const ja: NoticeWords = {
  frame: {
    unsubscribe: 'この種類のメッセージの配信を停止する',
    automatic: 'このメッセージは自動送信です。返信は読まれません。',
    unsubscribed: 'この種類のメッセージは今後届きません。',
  },
  'member-invitation': {
    subject: '{merchant} への招待',
    body: [
      '{inviter} さんが {merchant} のアカウントにあなたを招待しています。',
      'パスワードを設定すると招待を承諾できます。リンクは {until} まで、一度だけ使えます。',
      '心当たりがない場合は何もしないでください。リンクがなければ誰も入れません。',
    ],
    link: '招待を承諾する',
  },
  'member-recovery': {
    subject: '新しいパスワードの設定',
    body: [
      'このアドレスについて、新しいパスワードの設定が求められました。',
      'リンクは {until} まで、一度だけ使えます。新しいパスワードを設定するまで、今のパスワードは変わりません。',
      '心当たりがない場合は何もしないでください。',
    ],
    link: '新しいパスワードを設定する',
  },
  'application-question': {
    subject: 'お申し込み：{business}',
    body: [
      '{business} のお申し込みについて質問があります：{question}',
      'お控えになったお申し込みのページでお答えください。',
    ],
  },
  'application-rejected': {
    subject: 'お申し込み：{business}',
    body: [
      '{business} のお申し込みは承認されませんでした：{reason}',
      '事情が変わりましたら、改めてお申し込みいただけます。',
    ],
  },
  'key-added': {
    subject: '{merchant} に鍵が追加されました',
    body: [
      '{time} に {merchant} のアカウントへ新しい鍵が追加されました：{key}',
      '秘密鍵または共通鍵を持つ人は {merchant} として操作できます。心当たりがない場合は、すぐにこのサービスの運営者に連絡してください。',
    ],
  },
  'bank-account-changed': {
    subject: '{merchant} への支払先の銀行口座が変わります',
    body: [
      '{time} 以降、{merchant} への {currency} の支払いは次の銀行口座に送られます：{account}',
      'それまでは以前の口座に支払われます。心当たりがない場合は、すぐにこのサービスの運営者に連絡してください。まだ止めることができます。',
    ],
  },
  'payout-paid': {
    subject: '{merchant} への支払い：{amount}',
    body: [
      '銀行が {amount} の支払い {payoutId} を {merchant} の口座に振り込みました。',
      'ここの明細にあり、一両日中に銀行の明細にも載ります。',
    ],
  },
  'payout-returned': {
    subject: '{merchant} への支払いが戻ってきました',
    body: [
      '{amount} の支払い {payoutId} が銀行から返送されました：{reason}',
      '金額は {merchant} のウォレットに戻りました。支払先の銀行口座を確認してください。',
    ],
  },
  'callback-host-failing': {
    subject: '{host} にコールバックが届きません',
    body: [
      '{merchant} から {host} へのコールバックが {since} から失敗しています。最後の応答：{reason}',
      '何も失われません。7 日間再試行されます。{host} が稼働し、HTTP 200 を返すか確認してください。',
    ],
  },
  'callbacks-exhausted': {
    subject: 'コールバックの送信を終了しました',
    body: [
      '支払い {paymentId} のコールバック {event} は 7 日間 {host} に届かず、自動では再送されません。',
      '{merchant} の他のコールバックも同様の可能性があります。この通知は 1 日 1 回です。注文の状態を照会してください。コールバックは依頼により再送できます。',
    ],
  },
  'registration-code': {
    subject: 'ウォレット開設の認証コード',
    body: [
      'このメールアドレスでウォレットを開設するお申し込みがありました。',
      'コードは1回限り、15分間有効です。お手続き中のページで入力してください。',
      'お心当たりがない場合は、何もする必要はありません。コードがなければウォレットは開設されません。',
    ],
    link: '認証コード',
  },
  'wallet-exists': {
    subject: 'ウォレットはすでにあります',
    body: [
      'このメールアドレスでウォレットを開設するお申し込みがありましたが、すでにウォレットがあります。何も変更されていません。',
      'このメールアドレスとPINでログインしてください。PINをお忘れの場合は、ログインページでコードを請求してください。',
    ],
  },
  'pin-code': {
    subject: 'PIN再設定の認証コード',
    body: [
      'ウォレットの新しいPINを設定するお申し込みがありました。',
      'コードは1回限り、15分間有効です。新しいPINを設定するまで、現在のPINは変わりません。電話やメールでこのコードをお尋ねすることはありません。',
      'お心当たりがない場合は、何もする必要はありません。',
    ],
    link: '認証コード',
  },
  'pin-changed': {
    subject: 'PINが変更されました',
    body: [
      'ウォレットのPINが変更され、ほかの端末はすべてログアウトしました。',
      'お心当たりがない場合は、すぐにウォレットの運営者へロックを依頼してください。',
    ],
  },
  'new-device': {
    subject: 'ウォレットへの新しいログイン',
    body: [
      '{time} に、登録のない端末からウォレットへのログインがありました（おそらくご本人です）：{device}',
      'お心当たりがない場合は、すぐに PIN を変更し、設定からすべての端末でログアウトするか、ウォレットの運営者へロックを依頼してください。',
    ],
  },
  'refund-arrived': {
    subject: '{merchant} からの返金：{amount}',
    body: [
      '{merchant} から {amount} が返金されました。お金はウォレットに入っています。',
      '注文番号：{orderNo}',
    ],
  },
  'withdrawal-returned': {
    subject: '{amount} の出金が戻りました',
    body: [
      '{amount} の出金は行われませんでした：{reason}',
      'お金はウォレットに戻っています。もう一度お試しになる前に、銀行口座をご確認ください。',
    ],
  },
  receipt: {
    subject: '{merchant} へのお支払い：{amount}',
    body: [
      '{time} に {merchant} へ {amount} をお支払いいただきました。',
      '注文番号：{orderNo}',
      '支払い：{paymentId}',
      'このメッセージはお支払いページでのご依頼により送信しました。アドレスはこの送信にのみ使用し、保存しません。',
    ],
  },
}
