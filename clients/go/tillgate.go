// Package tillgate is a client of a Tillgate gateway, with Go's standard library alone. Each operation is safe to
// repeat with the same numbers, so repeat it where no answer came.
package tillgate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Credentials are as a sandbox writes them to data/sandbox-merchant.json. While a key is replaced, AESKey and
// PlatformPublicKey have two; the first encrypts.
type Credentials struct {
	GatewayURL        string   `json:"gatewayUrl"`
	MerchantID        string   `json:"merchantId"`
	AESKey            oneOrTwo `json:"aesKey"`
	PrivateKey        string   `json:"privateKey"`
	PlatformPublicKey oneOrTwo `json:"platformPublicKey"`
}

type oneOrTwo []string

func (list *oneOrTwo) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*list = oneOrTwo{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(list))
}

// Client is safe for use by several goroutines at once.
type Client struct {
	url  string
	keys *keys
	// HTTP sends the requests; give another one for proxies or other limits of time.
	HTTP *http.Client
	// Now is the clock.
	Now func() time.Time
	// MaxCallbackAge refuses callbacks whose attempt was made longer ago. Zero takes any age.
	MaxCallbackAge time.Duration
}

// Error is what the gateway refused. Decide by Code or Name; the message is for people.
type Error struct {
	Code             int
	Name, Message    string
	Field, RequestID string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// ErrNotGenuine says: not from the gateway, or not for this merchant. Answer HTTP 400 and do nothing.
var ErrNotGenuine = errors.New("tillgate: not genuine")

func New(c Credentials) (*Client, error) {
	keys, err := readKeys(c)
	if err != nil {
		return nil, err
	}
	http := &http.Client{Timeout: 15 * time.Second}
	return &Client{url: strings.TrimRight(c.GatewayURL, "/"), keys: keys, HTTP: http, Now: time.Now}, nil
}

func FromFile(path string) (*Client, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var credentials Credentials
	if err := json.Unmarshal(text, &credentials); err != nil {
		return nil, err
	}
	return New(credentials)
}

// Data is what an operation answers. Amounts are json.Number, or text where they are very large: no digit is lost.
type Data = map[string]any

// Create answers paymentId and checkoutUrl. channel is WEB, and the order is open for half an hour, unless given. To repeat
// it where no answer came, give paymentTime and paymentExpiryTime yourself, the same each time: they are part of the
// content, and the same number with other content is refused (40900).
func (c *Client) Create(ctx context.Context, body Data) (Data, error) {
	now := c.Now().UnixMilli()
	whole := Data{"channel": "WEB", "paymentTime": now, "paymentExpiryTime": now + 1_800_000}
	for name, value := range body {
		whole[name] = value
	}
	return c.Call(ctx, "service.trade.create", whole)
}

func (c *Client) Query(ctx context.Context, paymentID string) (Data, error) {
	return c.Call(ctx, "service.trade.query", Data{"paymentId": paymentID})
}

// QueryByOrderNo is for when the answer of Create was lost.
func (c *Client) QueryByOrderNo(ctx context.Context, orderNo string) (Data, error) {
	return c.Call(ctx, "service.trade.query", Data{"orderNo": orderNo})
}

// ListOrders answers orders, newest first, by since, until, status and limit. Give the cursor of an answer for the orders
// that follow; without one the list has ended.
func (c *Client) ListOrders(ctx context.Context, wanted Data) (Data, error) {
	if wanted == nil {
		wanted = Data{}
	}
	return c.Call(ctx, "service.order.list", wanted)
}

func (c *Client) Cancel(ctx context.Context, paymentID string) (Data, error) {
	return c.Call(ctx, "service.trade.cancel", Data{"paymentId": paymentID})
}

// Capture takes the money of an order with captureMode manual: amount and final may be in more; without an amount, all
// that remains.
func (c *Client) Capture(ctx context.Context, paymentID, referCaptureNo string, more Data) (Data, error) {
	body := Data{"paymentId": paymentID, "referCaptureNo": referCaptureNo}
	for name, value := range more {
		body[name] = value
	}
	return c.Call(ctx, "service.order.capture", body)
}

func (c *Client) Release(ctx context.Context, paymentID string) (Data, error) {
	return c.Call(ctx, "service.order.release", Data{"paymentId": paymentID})
}

// Scan charges the wallet whose code the consumer shows. Repeating it with the same orderNo is safe.
func (c *Client) Scan(ctx context.Context, code, orderNo, amount, currency string) (Data, error) {
	return c.Call(ctx, "service.order.scan",
		Data{"code": code, "orderNo": orderNo, "amount": amount, "currency": currency})
}

func (c *Client) Refund(ctx context.Context, paymentID, referRefundNo, amount string) (Data, error) {
	return c.Call(ctx, "service.trade.refund",
		Data{"paymentId": paymentID, "referRefundNo": referRefundNo, "refundAmount": amount})
}

// Bill answers the totals of a day, such as 2026-11-16 (UTC), and for five minutes the address of its CSV file.
func (c *Client) Bill(ctx context.Context, date string) (Data, error) {
	return c.Call(ctx, "service.bill.get", Data{"date": date})
}

func (c *Client) Call(ctx context.Context, method string, body any) (Data, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.CallText(ctx, method, string(text))
}

// CallText takes the body as the text that you have already.
func (c *Client) CallText(ctx context.Context, method, text string) (Data, error) {
	nonce := make([]byte, 12)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	envelope, err := c.keys.seal(method, text, fmt.Sprint(c.Now().UnixMilli()), nonce)
	if err != nil {
		return nil, err
	}
	sent, err := json.Marshal(envelope)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/api/v1/gateway", bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return readAnswer(response.Body)
}

func readAnswer(body io.Reader) (Data, error) {
	var answer struct {
		Code json.Number
		Msg  string
		Data Data
	}
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		return nil, fmt.Errorf("tillgate: what answered is no gateway: %w", err)
	}
	code, err := answer.Code.Int64()
	if err != nil {
		return nil, err
	}
	if code != 20000 {
		field, _ := answer.Data["field"].(string)
		requestID, _ := answer.Data["requestId"].(string)
		return nil, &Error{int(code), Codes[int(code)], answer.Msg, field, requestID}
	}
	return answer.Data, nil
}
