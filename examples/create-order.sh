# Creates a payment order on the sandbox with openssl and curl; Node.js, which npm brings, encrypts (AES-256-GCM).
demo() { node -p "require('./data/sandbox-merchant.json').$1"; }
merchantId=$(demo merchantId) now=$(date +%s)000
body='{"order":{"orderNo":"tea-'$now'","orderAmount":12.5,"goods":[{"referenceGoodsId":"tea","goodsName":"Green tea"}]},
"channel":"WEB","paymentAmount":12.5,"currency":"EUR","paymentTime":'$now',"paymentExpiryTime":'$((now + 1800000))'}'

# 1. Sign the body and the envelope's fields, before encryption
demo privateKey > demo.pem
sign=$(printf '%s' "body=$body&charset=utf-8&encryptType=AES&format=json&merchantId=$merchantId\
&method=service.trade.create&signType=RSA&timestamp=$now" | openssl dgst -sha256 -sign demo.pem | openssl base64 -A)

# 2. Encrypt the same body: base64(nonce + ciphertext + tag)
sealed=$(printf '%s' "$body" | KEY=$(demo aesKey) node -e '
  const { createCipheriv, randomBytes } = require("node:crypto"), nonce = randomBytes(12)
  const aes = createCipheriv("aes-256-gcm", Buffer.from(process.env.KEY, "base64"), nonce)
  const text = aes.update(require("node:fs").readFileSync(0))
  console.log(Buffer.concat([nonce, text, aes.final(), aes.getAuthTag()]).toString("base64"))')

# 3. Send the envelope
curl -s "$(demo gatewayUrl)/payment/api/v1/payment-order" -H 'content-type: application/json' -d '{
  "merchantId": "'$merchantId'", "method": "service.trade.create", "timestamp": '$now',
  "sign": "'$sign'", "body": "'$sealed'" }'
