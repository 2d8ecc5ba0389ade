// Notices in Japanese.
import type { NoticeWords } from './words.ts'

export const ja: NoticeWords = {
  frame: {
    unsubscribe: 'この種類のメッセージの配信を停止する',
    automatic: 'このメッセージは自動送信です。返信は読まれません。',
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
}
