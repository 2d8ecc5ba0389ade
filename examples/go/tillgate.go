// A client of a Tillgate gateway with Go's standard library alone.
//
//	go run . create  sandbox-merchant.json 12.50 USD
//	go run . query   sandbox-merchant.json PAYMENT_ID
//	go run . open    sandbox-merchant.json < callback.json
//	go run . vectors ../../docs/test-vectors.json
package main

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
	"net/http"
	"sort"
	"strings"
	"time"
)

type Credentials struct {
	GatewayURL        string `json:"gatewayUrl"`
	MerchantID        string `json:"merchantId"`
	AESKey            string `json:"aesKey"`
	PrivateKey        string `json:"privateKey"`
	PlatformPublicKey string `json:"platformPublicKey"`
}

type Tillgate struct {
	url, merchantID string
	gcm             cipher.AEAD
	privateKey      *rsa.PrivateKey
	platformKey     *rsa.PublicKey
}

// Envelope of a request. That of a callback is a map: a later gateway may add fields.
type Envelope struct {
	MerchantID string      `json:"merchantId"`
	Method     string      `json:"method"`
	Timestamp  json.Number `json:"timestamp"`
	Sign       string      `json:"sign"`
	Body       string      `json:"body"`
}

// Error is what the gateway refused, by its code.
type Error struct {
	Code             int
	Message          string
	Field, RequestID string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

func New(c Credentials) (*Tillgate, error) {
	key, err := base64.StdEncoding.DecodeString(c.AESKey)
	if err != nil || len(key) != 32 {
		return nil, errors.New("aesKey must be 32 bytes in base64")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	privateKey, err := parse(c.PrivateKey, x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("privateKey: %w", err)
	}
	platformKey, err := parse(c.PlatformPublicKey, x509.ParsePKIXPublicKey)
	if err != nil {
		return nil, fmt.Errorf("platformPublicKey: %w", err)
	}
	private, isPrivate := privateKey.(*rsa.PrivateKey)
	public, isPublic := platformKey.(*rsa.PublicKey)
	if !isPrivate || !isPublic {
		return nil, errors.New("the keys must be RSA keys")
	}
	return &Tillgate{strings.TrimRight(c.GatewayURL, "/"), c.MerchantID, gcm, private, public}, nil
}

func parse(text string, read func([]byte) (any, error)) (any, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("not PEM")
	}
	return read(block.Bytes)
}

func (t *Tillgate) Create(body any) (map[string]any, error) { return t.call("service.trade.create", body) }

func (t *Tillgate) Query(paymentID string) (map[string]any, error) {
	return t.call("service.trade.query", map[string]string{"paymentId": paymentID})
}

// Safe to repeat when no answer came: with the same orderNo it stays the same order.
func (t *Tillgate) call(method string, body any) (map[string]any, error) {
	s, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, 12)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	envelope, err := t.Seal(method, string(s), fmt.Sprint(time.Now().UnixMilli()), nonce)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(envelope)
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: 15 * time.Second}
	response, err := client.Post(t.url+"/api/v1/gateway", "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Code int
		Msg  string
		Data map[string]any
	}
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber() // amounts keep their digits
	if err := decoder.Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Code != 20000 {
		field, _ := answer.Data["field"].(string)
		requestID, _ := answer.Data["requestId"].(string)
		return nil, &Error{answer.Code, answer.Msg, field, requestID}
	}
	return answer.Data, nil
}

func (t *Tillgate) StringToSign(method, s, timestamp string) string {
	return "body=" + s + "&charset=utf-8&encryptType=AES&format=json&merchantId=" + t.merchantID +
		"&method=" + method + "&signType=RSA&timestamp=" + timestamp
}

// Seal takes the body's text. It was serialised once: this very text is signed and encrypted.
func (t *Tillgate) Seal(method, s, timestamp string, nonce []byte) (*Envelope, error) {
	sum := sha256.Sum256([]byte(t.StringToSign(method, s, timestamp)))
	sign, err := rsa.SignPKCS1v15(rand.Reader, t.privateKey, crypto.SHA256, sum[:])
	if err != nil {
		return nil, err
	}
	// The copy keeps Seal from writing behind the caller's nonce.
	sealed := t.gcm.Seal(append([]byte{}, nonce...), nonce, []byte(s), nil)
	return &Envelope{MerchantID: t.merchantID, Method: method, Timestamp: json.Number(timestamp),
		Sign: base64.StdEncoding.EncodeToString(sign), Body: base64.StdEncoding.EncodeToString(sealed)}, nil
}

// OpenCallback gives the plain body of a callback, or an error: then answer HTTP 400 and do nothing. Otherwise, when it
// is handled, answer HTTP 200 with {"code":20000,"msg":""}. Its id is the same on every attempt.
func (t *Tillgate) OpenCallback(raw []byte) (string, error) {
	var e map[string]string
	if err := json.Unmarshal(raw, &e); err != nil {
		return "", err
	}
	if e["merchantId"] != t.merchantID {
		return "", errors.New("another merchant's callback")
	}
	encoding := base64.StdEncoding.Strict()
	sealed, err := encoding.DecodeString(e["body"])
	if err != nil || len(sealed) < 28 {
		return "", errors.New("body is not as it should be")
	}
	plain, err := t.gcm.Open(nil, sealed[:12], sealed[12:], nil)
	if err != nil {
		return "", err
	}
	sign, err := encoding.DecodeString(e["sign"])
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(callbackStringToSign(e, string(plain))))
	return string(plain), rsa.VerifyPKCS1v15(t.platformKey, crypto.SHA256, sum[:], sign)
}

// Every field but sign takes part, those that a later gateway adds too.
func callbackStringToSign(e map[string]string, s string) string {
	fields := map[string]string{"charset": "utf-8", "encryptType": "AES", "format": "json", "signType": "RSA"}
	for name, value := range e {
		fields[name] = value
	}
	fields["body"] = s
	delete(fields, "sign")
	parts := make([]string, 0, len(fields))
	for name := range fields {
		parts = append(parts, name)
	}
	sort.Strings(parts)
	for i, name := range parts {
		parts[i] = name + "=" + fields[name]
	}
	return strings.Join(parts, "&")
}
