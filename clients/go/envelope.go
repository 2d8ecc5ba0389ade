package tillgate

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

// Seals requests and opens what the gateway signed, as docs/protocol.md says it.
type keys struct {
	merchantID   string
	aes          []cipher.AEAD
	privateKey   *rsa.PrivateKey
	platformKeys []*rsa.PublicKey
}

type sealed struct {
	MerchantID string      `json:"merchantId"`
	Method     string      `json:"method"`
	Timestamp  json.Number `json:"timestamp"`
	Sign       string      `json:"sign"`
	Body       string      `json:"body"`
}

var canonical = base64.StdEncoding.Strict()

func readKeys(c Credentials) (*keys, error) {
	k := &keys{merchantID: c.MerchantID}
	for _, text := range c.AESKey {
		key, err := canonical.DecodeString(text)
		if err != nil || len(key) != 32 {
			return nil, errors.New("tillgate: aesKey must be 32 bytes in base64")
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		gcm, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		k.aes = append(k.aes, gcm)
	}
	for _, text := range c.PlatformPublicKey {
		key, err := parsePEM(text, x509.ParsePKIXPublicKey)
		public, isRSA := key.(*rsa.PublicKey)
		if err != nil || !isRSA {
			return nil, fmt.Errorf("tillgate: platformPublicKey must be an RSA key in PEM: %v", err)
		}
		k.platformKeys = append(k.platformKeys, public)
	}
	key, err := parsePEM(c.PrivateKey, x509.ParsePKCS8PrivateKey)
	private, isRSA := key.(*rsa.PrivateKey)
	if err != nil || !isRSA {
		return nil, fmt.Errorf("tillgate: privateKey must be an RSA key in PEM (PKCS#8): %v", err)
	}
	if len(k.aes) == 0 || len(k.platformKeys) == 0 {
		return nil, errors.New("tillgate: aesKey and platformPublicKey are needed")
	}
	k.privateKey = private
	return k, nil
}

func parsePEM(text string, read func([]byte) (any, error)) (any, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("not PEM")
	}
	return read(block.Bytes)
}

func (k *keys) stringToSign(method, text, timestamp string) string {
	return "body=" + text + "&charset=utf-8&encryptType=AES&format=json&merchantId=" + k.merchantID +
		"&method=" + method + "&signType=RSA&timestamp=" + timestamp
}

// text is the body, serialised once: this very text is signed and encrypted.
func (k *keys) seal(method, text, timestamp string, nonce []byte) (sealed, error) {
	sum := sha256.Sum256([]byte(k.stringToSign(method, text, timestamp)))
	sign, err := rsa.SignPKCS1v15(rand.Reader, k.privateKey, crypto.SHA256, sum[:])
	if err != nil {
		return sealed{}, err
	}
	body := k.aes[0].Seal(append([]byte{}, nonce...), nonce, []byte(text), nil)
	return sealed{k.merchantID, method, json.Number(timestamp), canonical.EncodeToString(sign),
		canonical.EncodeToString(body)}, nil
}

var (
	fixed     = map[string]string{"charset": "utf-8", "encryptType": "AES", "format": "json", "signType": "RSA"}
	fieldName = regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9]{0,63}\z`)
	// No value can hold what separates fields, so the signed text has one reading.
	fieldValue    = regexp.MustCompile(`\A[A-Za-z0-9._:/+-]*\z`)
	timestampForm = regexp.MustCompile(`\A[0-9]{13}\z`)
)

// open gives the envelope of a callback and its body's text.
func (k *keys) open(raw []byte) (map[string]string, string, error) {
	var envelope map[string]string
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil, "", ErrNotGenuine
	}
	if len(envelope) != members(raw) || envelope["id"] == "" || envelope["eventName"] == "" {
		return nil, "", ErrNotGenuine
	}
	if !timestampForm.MatchString(envelope["timestamp"]) {
		return nil, "", ErrNotGenuine
	}
	text, isOpen := k.decrypt(envelope["body"])
	if !isOpen || envelope["merchantId"] != k.merchantID {
		return nil, "", ErrNotGenuine
	}
	parts := []string{"body=" + text}
	for name, value := range envelope { // what a later gateway adds is signed too
		if name == "sign" || name == "body" {
			continue
		}
		expected, isFixed := fixed[name]
		if !fieldName.MatchString(name) || !fieldValue.MatchString(value) || (isFixed && value != expected) {
			return nil, "", ErrNotGenuine
		}
		if !isFixed {
			parts = append(parts, name+"="+value)
		}
	}
	for name, value := range fixed {
		parts = append(parts, name+"="+value)
	}
	// By name alone: "=" would sort before a longer name.
	sort.Slice(parts, func(i, j int) bool { return nameOf(parts[i]) < nameOf(parts[j]) })
	if !k.verifies(strings.Join(parts, "&"), envelope["sign"]) {
		return nil, "", ErrNotGenuine
	}
	return envelope, text, nil
}

// members counts those of a flat object. Where a name is there twice the map has the last value alone, and others may
// have read the first.
func members(raw []byte) int {
	decoder, tokens := json.NewDecoder(bytes.NewReader(raw)), 0
	for _, err := decoder.Token(); err == nil; _, err = decoder.Token() {
		tokens++
	}
	return tokens/2 - 1
}

func nameOf(part string) string {
	name, _, _ := strings.Cut(part, "=")
	return name
}

func (k *keys) verifies(text, sign string) bool {
	signature, err := decode(sign)
	sum := sha256.Sum256([]byte(text))
	for _, key := range k.platformKeys {
		// Before Go 1.20 the library took the same number with the modulus added to it too.
		isReduced := err == nil && new(big.Int).SetBytes(signature).Cmp(key.N) < 0
		if isReduced && rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil {
			return true
		}
	}
	return false
}

func (k *keys) decrypt(body string) (string, bool) {
	bytes, err := decode(body)
	if err != nil || len(bytes) < 28 {
		return "", false
	}
	for _, gcm := range k.aes {
		if plain, err := gcm.Open(nil, bytes[:12], bytes[12:], nil); err == nil && utf8.Valid(plain) {
			return string(plain), true
		}
	}
	return "", false
}

// Go's decoder skips line breaks; the protocol has none.
func decode(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, ErrNotGenuine
	}
	return canonical.DecodeString(text)
}
