package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if len(os.Args) < 3 {
		fail("usage: go run . create|query|open|vectors FILE …")
	}
	text, err := os.ReadFile(os.Args[2])
	check(err)
	if os.Args[1] == "vectors" {
		checkVectors(text)
		return
	}
	var credentials Credentials
	check(json.Unmarshal(text, &credentials))
	tillgate, err := New(credentials)
	check(err)
	switch os.Args[1] {
	case "create":
		amount, now := os.Args[3], time.Now().UnixMilli()
		goods := []map[string]any{{"referenceGoodsId": "tea", "goodsName": "Tea", "goodsAmount": amount}}
		show(tillgate.Create(map[string]any{
			"order":   map[string]any{"orderNo": fmt.Sprint("go-", now), "orderAmount": amount, "goods": goods},
			"channel": "WEB", "paymentAmount": amount, "currency": os.Args[4],
			"paymentTime": now, "paymentExpiryTime": now + 1_800_000,
		}))
	case "query":
		show(tillgate.Query(os.Args[3]))
	case "open":
		raw, err := io.ReadAll(os.Stdin)
		check(err)
		plain, err := tillgate.OpenCallback(raw)
		check(err)
		fmt.Println(plain)
	}
}

func show(data map[string]any, err error) {
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(data))
}

func checkVectors(text []byte) {
	var vectors struct {
		Keys     struct{ Merchant, Gateway struct{ AesKey, PrivateKey, PublicKey string } }
		Requests []struct {
			Name, NonceHex, Body, StringToSign string
			Envelope                           Envelope
		}
		Callbacks []struct {
			Name, Body string
			Envelope   map[string]string
		}
	}
	check(json.Unmarshal(text, &vectors))
	keys := vectors.Keys
	client, err := New(Credentials{"", vectors.Requests[0].Envelope.MerchantID, keys.Merchant.AesKey,
		keys.Merchant.PrivateKey, keys.Gateway.PublicKey})
	check(err)
	for _, v := range vectors.Requests {
		nonce, err := hex.DecodeString(v.NonceHex)
		check(err)
		timestamp := v.Envelope.Timestamp.String()
		sealed, err := client.Seal(v.Envelope.Method, v.Body, timestamp, nonce)
		check(err)
		if client.StringToSign(v.Envelope.Method, v.Body, timestamp) != v.StringToSign ||
			sealed.Sign != v.Envelope.Sign || sealed.Body != v.Envelope.Body {
			fail("wrong: " + v.Name)
		}
	}
	for _, v := range vectors.Callbacks {
		if plain, err := client.OpenCallback(encode(v.Envelope)); err != nil || plain != v.Body {
			fail("wrong: " + v.Name)
		}
		body := v.Envelope["body"]
		for name, value := range map[string]string{"timestamp": "1760000000001", "merchantId": "100000000000000002",
			"sign": body, "body": body[:len(body)-4] + "AAA="} {
			changed := map[string]string{}
			for each := range v.Envelope {
				changed[each] = v.Envelope[each]
			}
			changed[name] = value
			if _, err := client.OpenCallback(encode(changed)); err == nil {
				fail("opened what it must not: " + v.Name)
			}
		}
	}
	fmt.Printf("%d requests and %d callbacks are right\n", len(vectors.Requests), len(vectors.Callbacks))
}

func encode(e map[string]string) []byte {
	text, err := json.Marshal(e)
	check(err)
	return text
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
