package tillgate

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const maxCallbackBytes = 256 * 1024
const redirectAgeMs = 10 * 60 * 1000

// Callback is genuine, and for this merchant.
type Callback struct {
	// ID is the same on every attempt: what duplicates are known by.
	ID, EventName string
	// Text is the body as it was signed; Result is the same, read.
	Text   string
	Result Data
	// TimestampMs is when this attempt was made.
	TimestampMs int64
}

// OpenCallback takes the body of the HTTP request as it came. Its error is ErrNotGenuine, also for an attempt that was
// made longer ago, or is further ahead, than the client's MaxCallbackAge.
func (c *Client) OpenCallback(raw []byte) (Callback, error) {
	envelope, text, err := c.keys.open(raw)
	if err != nil {
		return Callback{}, err
	}
	timestampMs, _ := strconv.ParseInt(envelope["timestamp"], 10, 64)
	if age := c.Now().Sub(time.UnixMilli(timestampMs)).Abs(); c.MaxCallbackAge != 0 && age > c.MaxCallbackAge {
		return Callback{}, ErrNotGenuine
	}
	callback := Callback{ID: envelope["id"], EventName: envelope["eventName"], Text: text, TimestampMs: timestampMs}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return callback, decoder.Decode(&callback.Result)
}

// CallbackHandler gives handle each callback that is genuine. Let it look at ID, and do slow work afterwards; when it
// returns an error, the gateway sends the callback again later.
func (c *Client) CallbackHandler(handle func(Callback) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			refuse(w, http.StatusMethodNotAllowed, 40401, "Callbacks come by POST.")
			return
		}
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallbackBytes))
		if err != nil {
			refuse(w, http.StatusRequestEntityTooLarge, 41300, "This is too large for a callback.")
			return
		}
		callback, err := c.OpenCallback(raw)
		if errors.Is(err, ErrNotGenuine) {
			refuse(w, http.StatusBadRequest, 40100, "This is not a callback.")
			return
		}
		if err == nil {
			err = handle(callback)
		}
		if err != nil {
			log.Printf("tillgate: callback %s was not handled: %v", callback.ID, err)
			refuse(w, http.StatusInternalServerError, 50000, "The callback could not be handled: send it again.")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"code":20000,"msg":""}`)
	})
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"code": code, "msg": message})
}

var redirectForms = []struct {
	name string
	form *regexp.Regexp
}{
	{"merchantId", regexp.MustCompile(`\A[0-9A-Za-z]{18}\z`)},
	{"paymentId", regexp.MustCompile(`\A[0-9A-Za-z]{1,32}\z`)},
	{"referOrderNo", regexp.MustCompile(`\A[^\x00-\x1f\x7f-\x{9f}]{1,64}\z`)},
	{"status", regexp.MustCompile(`\A(?:` + strings.Join(orderStatuses, "|") + `)\z`)},
	{"timestamp", regexp.MustCompile(`\A[0-9]{13}\z`)},
}

// VerifyRedirect gives the parameters with which the consumer came back, from r.URL.Query(). For display alone: deliver
// on a callback or a query. With a paymentID, it must be about that payment.
func (c *Client) VerifyRedirect(query url.Values, paymentID string) (map[string]string, error) {
	given, parts := map[string]string{}, []string{}
	for _, each := range redirectForms {
		values := query[each.name]
		if len(values) != 1 || !utf8.ValidString(values[0]) || !each.form.MatchString(values[0]) {
			return nil, ErrNotGenuine
		}
		given[each.name] = values[0]
		parts = append(parts, each.name+"="+values[0])
	}
	timestamp, _ := strconv.ParseInt(given["timestamp"], 10, 64)
	age := c.Now().UnixMilli() - timestamp
	isExpected := given["merchantId"] == c.keys.merchantID && (paymentID == "" || paymentID == given["paymentId"])
	if !isExpected || age > redirectAgeMs || age < -redirectAgeMs || len(query["sign"]) != 1 {
		return nil, ErrNotGenuine
	}
	if !c.keys.verifies(strings.Join(parts, "&"), query["sign"][0]) {
		return nil, ErrNotGenuine
	}
	return given, nil
}
