package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"sibyl/internal/files"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/model"
	"sibyl/internal/redact"
	"sibyl/internal/text"
)

// Complaint is what a provider says about a failed request. Protocol.Classify sets the Kind and what follows.
type Complaint struct {
	Message string // the provider's own words; empty: those of the HTTP status
	Code    string // "context_length_exceeded"; some send a number, such as an HTTP status
	Type    string // "invalid_request_error"
	Status  string // a google.rpc.Code: "RESOURCE_EXHAUSTED"
	Details json.RawMessage

	Kind       model.Kind
	Advice     string        // what would help; it follows the message
	RetryAfter time.Duration // what the body asks for, in addition to the header
	Final      bool          // asking again without optional fields does not help
}

// Fail makes the error of a call; no other place does. It cuts the key and the values of the Config's headers out of
// the message, and shortens it. Values as short as a word are no secrets, and stay.
func (x *Call) Fail(kind model.Kind, message string, err error) *model.Error {
	secrets := []string{x.key}
	for _, value := range x.m.config.Header {
		secrets = append(secrets, strings.Fields(value)...)
	}
	for _, secret := range secrets {
		if len(secret) >= redact.MinSecret {
			message = strings.ReplaceAll(message, secret, "[key]")
		}
	}
	return &model.Error{Kind: kind, Model: x.m.id, Message: shorten(message), Err: err}
}

// BaseHint returns the end of a message about an endpoint that does not seem to speak the protocol.
func (x *Call) BaseHint() string {
	base := x.m.base
	return fmt.Sprintf(" (asked %s under %q: is the base URL right? %s)", base.Host, base.Path, x.m.protocol.URLHint)
}

// BadEventError returns the error for an event that is not the JSON that it should be; err says why. Where it is words,
// they are told.
func (x *Call) BadEventError(data []byte, err error) *model.Error {
	why := err.Error()
	if words := prose(data); words != "" && unicode.IsLetter([]rune(words)[0]) {
		why = words
	}
	return x.Fail(model.Garbled, "an event of the answer is not the JSON that the protocol promises: "+why, err)
}

// Complaint returns the error that an event, or a body, without any part of an answer tells of; nil if it tells of
// none.
func (x *Call) Complaint(data []byte) error {
	c, sure := findComplaint(data)
	if !sure {
		if c.Message != "" {
			x.told = bytes.Clone(data)
		}
		return nil
	}
	return x.StreamError(data)
}

// NoAnswerError returns the error for a response that ended without an answer: in the provider's words if it has told
// any, or else with a message.
func (x *Call) NoAnswerError(message string) *model.Error {
	if x.told != nil {
		return x.complaintError(x.told, 0, "")
	}
	return x.Fail(model.Garbled, message, nil)
}

// StreamError returns the error for a complaint that came after the response had begun as a success.
func (x *Call) StreamError(body []byte) *model.Error {
	failed := x.complaintError(body, 0, "inside the stream: ")
	failed.Lost = x.Text() != ""
	return failed
}

// complaintError returns the error for a complaint in a response whose status is a success. asked is the wait that its
// header asks for.
func (x *Call) complaintError(body []byte, asked time.Duration, where string) *model.Error {
	c := parseComplaint(body)
	x.classify(http.StatusOK, asked, &c)
	failed := x.Fail(c.Kind, where+c.Message+c.Advice, nil)
	failed.RetryAfter = c.RetryAfter
	return failed
}

// statusError returns the error for an HTTP status other than success.
func (x *Call) statusError(resp *http.Response, body []byte) *model.Error {
	c := parseComplaint(body)
	x.classify(resp.StatusCode, retryAfter(resp.Header), &c)
	message := cmp.Or(c.Message, http.StatusText(resp.StatusCode)) + c.Advice
	switch {
	case resp.StatusCode/100 == 3:
		message = "the endpoint redirects elsewhere; if you trust that address, set it as the base URL"
	case resp.StatusCode == http.StatusNotFound && c.Advice == "":
		message += x.BaseHint()
	}
	x.hopeless = c.Final
	failed := x.Fail(c.Kind, message, nil)
	failed.Status = resp.StatusCode
	failed.RetryAfter = c.RetryAfter
	return failed
}

// classify sets a failure's Kind by its protocol, and recognises what providers of all protocols say alike.
func (x *Call) classify(status int, asked time.Duration, c *Complaint) {
	x.m.protocol.Classify(x, status, c)
	c.RetryAfter = max(c.RetryAfter, asked)
	if status == http.StatusOK && c.Kind == model.Server { // there is no status to go by
		c.Kind = kindByWords(strings.ToLower(c.Code + " " + c.Type + " " + c.Message))
	}
	name, message := strings.ToLower(c.Code+" "+c.Type+" "+c.Status), strings.ToLower(c.Message)
	// Messages about temporary rate limits mention billing, too: that one could pay for more.
	if c.Kind == model.Invalid && takesWords(status) && TooLong(message) {
		c.Kind = model.ContextLength
	}
	lasting := c.RetryAfter == 0 && !ContainsAny(name, "rate_limit", "resource_exhausted") && (c.Kind == model.RateLimit ||
		c.Kind == model.Auth)
	switch {
	case ContainsAny(name, "insufficient_quota", "billing") ||
		ContainsAny(message, "insufficient_quota", "credit balance is too low", "insufficient balance",
			"insufficient credit", "balance is not enough"), lasting && ContainsAny(message, "billing"):
		c.Kind = model.Payment
	case c.Kind == model.Server && (ContainsAny(name, "overloaded", "unavailable") || ContainsAny(message, "overloaded")):
		c.Kind = model.Overloaded
	}
}

// takesWords says whether a failure with this status may be that the request is too long.
func takesWords(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusOK
}

// kindByWords returns the kind of a failure that has no status, by the provider's words in lower case.
func kindByWords(text string) model.Kind {
	switch {
	case TooLong(text):
		return model.ContextLength
	case ContainsAny(text, "rate limit", "rate_limit", "too many requests", "quota"):
		return model.RateLimit
	case ContainsAny(text, "api key", "api_key", "apikey", "unauthorized", "unauthenticated", "authentication"):
		return model.Auth
	case ContainsAny(text, "overloaded", "busy", "capacity"):
		return model.Overloaded
	}
	return model.Server
}

// unreachableError returns the error for a request that got no response.
func (x *Call) unreachableError(err error) (failed *model.Error) {
	dial, dials := errors.AsType[*net.OpError](err)
	defer func() { failed.Unsent = dials && dial.Op == "dial" && x.attempts == 1 }()
	// The text of a url.Error holds the whole URL, which may hold a secret.
	if wrapped, is := errors.AsType[*url.Error](err); is {
		err = wrapped.Err
	}
	if refused, is := errors.AsType[*cleartext.Error](err); is {
		return x.Fail(model.Invalid, refused.Error(), refused)
	}
	host := x.m.base.Host
	var dns *net.DNSError
	switch {
	case files.Is(err, syscall.ECONNREFUSED):
		return x.incompleteError("nothing answers at "+host+": "+x.m.protocol.StartHint, syscall.ECONNREFUSED)
	case errors.As(err, &dns) && dns.IsNotFound:
		return x.incompleteError("can't reach "+x.m.base.Hostname()+": no host of that name was found; are "+
			"you online?", err)
	}
	return x.incompleteError("no answer from "+host, err)
}

// incompleteError returns the error for a request that ended before its answer was complete: withdrawn by the caller,
// ended by a timeout of its own, or broken on the way, which `what` describes.
func (x *Call) incompleteError(what string, err error) *model.Error {
	if cause := x.caller.Err(); cause != nil {
		return x.Fail(model.KindOf(cause), "", cause)
	}
	if x.ctx != nil && x.ctx.Err() != nil {
		cause := context.Cause(x.ctx)
		limit := map[error]time.Duration{
			model.ErrUnanswered: x.clock.first, errSilent: x.clock.idle, model.ErrEndless: x.m.config.Whole,
		}[cause]
		return x.Fail(model.Timeout, fmt.Sprintf("%v (limit %v)", cause, limit), cause)
	}
	kind := model.Server
	if slow, is := errors.AsType[net.Error](err); is && slow.Timeout() {
		kind = model.Timeout
	}
	return x.Fail(kind, fmt.Sprintf("%s (%v)", what, err), err)
}

// lostError is incompleteError for an answer that had begun.
func (x *Call) lostError(what string, err error) *model.Error {
	failed := x.incompleteError(what, err)
	failed.Lost = x.ctx.Err() == nil
	return failed
}

// statusOverloaded is Anthropic's status when all of its customers together ask too much.
const statusOverloaded = 529

// StatusKind returns the kind of a failure by its HTTP status alone. A status of success means an error inside a
// stream: all that is known is that the provider failed.
func StatusKind(status int) model.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return model.Auth
	case http.StatusTooManyRequests:
		return model.RateLimit
	case http.StatusPaymentRequired:
		return model.Payment
	case http.StatusServiceUnavailable, statusOverloaded:
		return model.Overloaded
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return model.Timeout
	case http.StatusRequestEntityTooLarge:
		return model.ContextLength
	}
	if status >= 500 || status < 300 {
		return model.Server
	}
	return model.Invalid
}

// What a request has too much of, what is said of too much, and what else a failure with such words may be about: a
// field of the request, or a schema.
var (
	contextWords = regexp.MustCompile(`context|window|tokens?\b|\b(?:prompt|input|sequence|conversation|messages?|request|total text)\b|` +
		`上下文|输入|长度`)
	excessWords = regexp.MustCompile(`exceed|too (?:long|large|many|big)|larger than|longer than|greater than|more than|maximum|` +
		`\bless than\b|\blimit\b|reduce|shorten|truncat|overflow|not fit|does(?:n't| not) fit|out of range|range of|\bmax\b.*length|` +
		`\bonly\b.*tokens|超过|超出|超长|过长`)
	lengthWords = regexp.MustCompile(`context|window|tokens?\b|length|\blong\b|size|bytes|large|\bbig\b|overflow|fit|上下文|长度|超长|过长`)
	otherFields = regexp.MustCompile(`max_?(?:completion_|output_|new_)?tokens|maxoutputtokens|schema|grammar|tool|function|` +
		`\bid\b|\bname\b|api token|access token|auth|per minute|per day|took too long|stop sequence|image|file|temperature|repetitions`)
	wholeContext = regexp.MustCompile(`context|prompt|input (?:length|tokens?)`)
)

// TooLong says whether a provider's words, in lower case, mean that the request does not fit into the model's window:
// they speak of too much of its text, and of nothing else that may be too much.
func TooLong(text string) bool {
	return contextWords.MatchString(text) && excessWords.MatchString(text) && lengthWords.MatchString(text) &&
		(!otherFields.MatchString(text) || wholeContext.MatchString(text) && !ContainsAny(text, "schema", "grammar"))
}

// AgainstPolicy says whether a provider's words, in lower case, mean that it does not answer such content.
func AgainstPolicy(text string) bool {
	return ContainsAny(text, "content policy", "content filtering policy", "content management policy", "usage policy",
		"usage policies", "moderation", "flagged")
}

// ContainsAny says whether text contains any of the words.
func ContainsAny(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// PlainText returns a JSON string's value, "" for null, and any other JSON unchanged.
func PlainText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// IsSet says whether a field was sent and is not null.
func IsSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// prose returns the text of a failed request's body that is no JSON; "" for HTML.
func prose(body []byte) string {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") { // a proxy's HTML page says nothing that the status does not
		return ""
	}
	return text
}

// retryAfter reads the header in both its forms, seconds and a date.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds > 0 && seconds < maxWait.Seconds() {
			return time.Duration(seconds * float64(time.Second))
		}
		if seconds > 0 {
			return maxWait
		}
		return 0
	}
	if at, err := http.ParseTime(text); err == nil {
		return BoundWait(time.Until(at))
	}
	return 0
}

// maxWait keeps an absurd time from overflowing a Duration.
const maxWait = 365 * 24 * time.Hour

// BoundWait bounds the wait that a provider asks for: at least 0, at most a year.
func BoundWait(asked time.Duration) time.Duration { return min(max(asked, 0), maxWait) }

// maxMessage is how many bytes of a provider's words an error holds.
const maxMessage = 500

// shorten makes one line of a message, at most maxMessage bytes, free of what could steer a terminal.
func shorten(message string) string {
	message = text.OneLine(strings.ToValidUTF8(message, "\uFFFD"))
	if short := text.Clip(message, maxMessage); short != message {
		return short + "…"
	}
	return message
}
