# Prints the signed and encrypted envelope of a request: sh seal.sh METHOD BODY
# CREDENTIALS is the merchant's credentials file. Needs openssl, and Node.js to encrypt with AES-256-GCM.
method=$1 body=$2 timestamp=$(date +%s)000
field() { node -p "JSON.parse(require('fs').readFileSync(process.env.CREDENTIALS)).$1"; }
merchantId=$(field merchantId)

# 1. Sign the plain body and the envelope's fields.
key=$(mktemp)
field privateKey > "$key"
sign=$(printf '%s' "body=$body&charset=utf-8&encryptType=AES&format=json&merchantId=$merchantId\
&method=$method&signType=RSA&timestamp=$timestamp" | openssl dgst -sha256 -sign "$key" | openssl base64 -A)
rm "$key"

# 2. Encrypt the same body: base64(nonce + ciphertext + tag).
sealed=$(printf '%s' "$body" | KEY=$(field aesKey) node -e '
  const { createCipheriv, randomBytes } = require("node:crypto"), nonce = randomBytes(12)
  const aes = createCipheriv("aes-256-gcm", Buffer.from(process.env.KEY, "base64"), nonce)
  const text = aes.update(require("node:fs").readFileSync(0))
  console.log(Buffer.concat([nonce, text, aes.final(), aes.getAuthTag()]).toString("base64"))')

printf '{"merchantId":"%s","method":"%s","timestamp":%s,"sign":"%s","body":"%s"}' \
  "$merchantId" "$method" "$timestamp" "$sign" "$sealed"
