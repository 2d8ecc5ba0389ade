package tillgate

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"
)

type command struct {
	Do, Method, Body, NonceHex, Raw, Query, PaymentID, OrderNo, ReferRefundNo, Amount, Text, Date string
	Timestamp                                                                                     json.Number
	NowMs, MaxAgeMs                                                                               int64
	Order                                                                                         Data
}

var (
	lock     sync.Mutex
	received = []string{}
)

// Lets the common contract suite drive this client: one JSON command a line in, one JSON answer a line out.
func TestContract(t *testing.T) {
	file := os.Getenv("TILLGATE_CONTRACT")
	if file == "" {
		t.Skip("driven by the gateway's contract suite: TILLGATE_CONTRACT names the credentials")
	}
	client, err := FromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var given command
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			t.Fatal(err)
		}
		data, err := run(client, given)
		answer := map[string]any{"data": data}
		var refused *Error
		switch {
		case errors.Is(err, ErrNotGenuine):
			answer = map[string]any{"refused": true}
		case errors.As(err, &refused):
			answer = map[string]any{"error": Data{"code": refused.Code, "name": refused.Name, "field": refused.Field}}
		case err != nil:
			t.Fatal(err)
		}
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
	}
}

func run(client *Client, given command) (any, error) {
	ctx := context.Background()
	switch given.Do {
	case "seal":
		nonce, _ := hex.DecodeString(given.NonceHex)
		made, err := client.keys.seal(given.Method, given.Body, given.Timestamp.String(), nonce)
		text := client.keys.stringToSign(given.Method, given.Body, given.Timestamp.String())
		return Data{"stringToSign": text, "sign": made.Sign, "body": made.Body}, err
	case "open":
		client.Now = func() time.Time { return time.UnixMilli(given.NowMs) }
		client.MaxCallbackAge = time.Duration(given.MaxAgeMs) * time.Millisecond
		callback, err := client.OpenCallback([]byte(given.Raw))
		return Data{"body": callback.Text}, err
	case "redirect":
		query, err := url.ParseQuery(given.Query)
		if err != nil {
			return nil, ErrNotGenuine
		}
		client.Now = func() time.Time { return time.UnixMilli(given.NowMs) }
		return client.VerifyRedirect(query, given.PaymentID)
	case "create":
		return client.Create(ctx, given.Order)
	case "query":
		if given.OrderNo != "" {
			return client.QueryByOrderNo(ctx, given.OrderNo)
		}
		return client.Query(ctx, given.PaymentID)
	case "cancel":
		return client.Cancel(ctx, given.PaymentID)
	case "refund":
		return client.Refund(ctx, given.PaymentID, given.ReferRefundNo, given.Amount)
	case "bill":
		return client.Bill(ctx, given.Date)
	case "send":
		return client.CallText(ctx, given.Method, given.Text)
	case "environment":
		own, err := FromEnvironment()
		if err != nil {
			return Data{"problem": err.Error()}, nil
		}
		return own.QueryByOrderNo(ctx, given.OrderNo)
	case "serve":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			go http.Serve(listener, client.CallbackHandler(take))
		}
		return Data{"port": listener.Addr().(*net.TCPAddr).Port}, err
	}
	lock.Lock()
	defer lock.Unlock()
	return Data{"bodies": received}, nil
}

func take(callback Callback) error {
	lock.Lock()
	defer lock.Unlock()
	if callback.Result["msg"] == "fail" {
		return errors.New("as the suite asked for")
	}
	received = append(received, callback.Text)
	return nil
}
