package wire

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	v2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Text is a part of an answer's text or of a call: unlike other fields, it has to be what the protocol promises.
type Text string

// Carrier is an object that carries text or calls: it too has to be what the protocol promises.
type Carrier interface{ CarriesText() }

var carrierType, rawType = reflect.TypeFor[Carrier](), reflect.TypeFor[json.RawMessage]()

// Decode decodes what a server sent. Servers and gateways write minor fields in many ways, and none of them is worth an
// answer: a number may be a fraction or a text, a text may be a number, and a list may be its only entry. A field that
// is something else is left out, and counted. What has a decoding of its own, and Text, is strict.
func (x *Call) Decode(data []byte, into any) error {
	if x.lenient == nil {
		x.lenient = v2.WithUnmarshalers(v2.UnmarshalFromFunc(func(d *jsontext.Decoder, into any) error {
			return decodeLeniently(d, into, &x.dropped)
		}))
	}
	return v2.Unmarshal(data, into, x.lenient, v2.MatchCaseInsensitiveNames(true),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// decodeLeniently decodes the next value as the kind of type that it goes into; v2.SkipFunc: as usual.
func decodeLeniently(d *jsontext.Decoder, into any, dropped *int) error {
	switch v := into.(type) {
	case *Text, json.Unmarshaler:
		return v2.SkipFunc
	case *int:
		return decodeScalar(d, dropped, func(token jsontext.Token) (ok bool) {
			*v, ok = wholeNumber(token)
			return ok
		})
	case *string:
		if d.PeekKind() == '"' {
			return v2.SkipFunc
		}
		return decodeScalar(d, dropped, func(token jsontext.Token) bool {
			if *v = ""; token.Kind() == '0' || token.Kind() == 't' {
				*v = token.String()
			}
			return true
		})
	case *bool:
		return decodeScalar(d, dropped, func(token jsontext.Token) bool {
			text := strings.ToLower(token.String())
			*v = text == "true" || text == "1"
			return *v || text == "false" || text == "0"
		})
	}
	t := reflect.TypeOf(into).Elem()
	kind := d.PeekKind()
	switch {
	case d.StackDepth() == 0, kind == 'n':
		return v2.SkipFunc
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		if kind != '{' && !carries(t) {
			return drop(d, dropped)
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && kind != '[':
		only := reflect.New(t.Elem())
		switch {
		case kind == '{' && (t.Elem().Kind() == reflect.Struct || t.Elem() == rawType),
			kind == '"' && t.Elem().Kind() == reflect.String:
			if err := v2.UnmarshalDecode(d, only.Interface()); err != nil {
				return err
			}
			reflect.ValueOf(into).Elem().Set(reflect.Append(reflect.Zero(t), only.Elem()))
			return nil
		case !carries(t.Elem()):
			return drop(d, dropped)
		}
	}
	return v2.SkipFunc
}

func carries(t reflect.Type) bool { return t.Implements(carrierType) }

// decodeScalar reads a value that is no list and no object; one that read does not take is dropped.
func decodeScalar(d *jsontext.Decoder, dropped *int, read func(jsontext.Token) bool) error {
	switch d.PeekKind() {
	case '{', '[':
		return drop(d, dropped)
	}
	token, err := d.ReadToken()
	if err == nil && token.Kind() != 'n' && !read(token) {
		*dropped++
	}
	return err
}

func drop(d *jsontext.Decoder, dropped *int) error {
	*dropped++
	return d.SkipValue()
}

// wholeNumber reads a number, or a text that is one.
func wholeNumber(token jsontext.Token) (n int, ok bool) {
	text := strings.TrimSpace(token.String())
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) {
		return 0, false
	}
	return int(max(math.MinInt32, min(f, math.MaxInt64/2))), true
}
