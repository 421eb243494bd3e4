package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// fetchFrom serves one handler and fetches its root.
func fetchFrom(t *testing.T, cfg Config, handler http.HandlerFunc) (tool.Result, FetchData, error) {
	t.Helper()
	s := serve(t, handler)
	cfg.AllowAddr = allowOnly(s)
	result, err := byName(t, cfg, "web_fetch").Call(t.Context(), args(t, map[string]any{"url": s.URL}))
	var data FetchData
	if err == nil {
		assert.NoErrorf(t, json.Unmarshal(result.Data, &data), "Data is no FetchData")
	}
	return result, data, err
}

func body(contentType, content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		_, _ = io.WriteString(w, content)
	}
}

func TestFetchedPageIsASourceThatWasRead(t *testing.T) {
	s := serve(t, body("text/html; charset=utf-8", `<title>Weather in Paris</title><p>It is 18 °C.</p>`))
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	result := assert.Must(fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL + "/paris?unit=c#now"})))(t)
	want := []tool.Ref{{
		Source: tool.Web, URL: s.URL + "/paris?unit=c", Title: "Weather in Paris", Opened: true,
		Hash: "sha256:b8f82938e107b96ec1881341c7d0e382b6960da97313c21083e5cac914808fb2", // of "It is 18 °C."
	}}
	assert.Same(t, want, result.Refs)
	wantText := "URL: " + s.URL + "/paris?unit=c\nTitle: Weather in Paris\n\nIt is 18 °C."
	assert.Same(t, wantText, result.Text)
	assert.That(t, result.Items == 1 && !result.Truncated, "Items = %d, Truncated = %v", result.Items, result.Truncated)
}

func TestHashIsOfTheTextNotOfTheMarkup(t *testing.T) {
	hash := func(page string) string {
		result, _, err := fetchFrom(t, Config{}, body("text/html", page))
		assert.NoError(t, err)
		return result.Refs[0].Hash
	}
	first := hash(`<p class=a1>Same words.</p><script nonce=1>x</script>`)
	assert.That(t, hash(`<p class=b2>Same words.</p><script nonce=2>y</script>`) == first, "markup alone changed the hash")
	assert.That(t, hash(`<p>Other words.</p>`) != first, "other words have the same hash")
}

func TestTextIsTakenAsItIs(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, text, title string }{
		{"plain", "text/plain", "a <b> & c\n\n  indented\n", "a <b> & c\n\n  indented", ""},
		{"markdown", "text/markdown; charset=utf-8", "# A *title*\n\n- x_y\n", "# A *title*\n\n- x_y", "A *title*"},
		{"json", "application/json", `{"a": "<p>"}`, `{"a": "<p>"}`, ""},
		{"problem json", "application/problem+json", `{"a":1}`, `{"a":1}`, ""},
		{"feed", "application/rss+xml", `<rss><title>x</title></rss>`, `<rss><title>x</title></rss>`, ""},
		{"script", "application/javascript", `let a = 1 < 2`, `let a = 1 < 2`, ""},
		{"yaml", "application/x-yaml", "a: b", "a: b", ""},
		{"unsaid text", "", "just words", "just words", ""},
		{"octets that are text", "application/octet-stream", "just words", "just words", ""},
		{"type with a broken parameter", "text/plain; charset", "words", "words", ""},
		{"controls", "text/plain", "a\x1b[31mb\u0085\x07c\r\nd\re\U000E0041\U000E0042f", "a[31mbc\nd\nef", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, data, err := fetchFrom(t, Config{}, body(c.contentType, c.body))
			assert.NoError(t, err)
			assert.That(t, data.Text == c.text && data.Extract == ExtractRaw && data.Title == c.title,
				"text = %q, extract = %s, title = %q, want %q and %q", data.Text, data.Extract, data.Title, c.text, c.title)
		})
	}
}

func TestWhatIsNoTextIsRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, message string }{
		{"pdf", "application/pdf", "%PDF-1.7", "PDF"},
		{"pdf without a type", "", "%PDF-1.7 x", "PDF"},
		{"pdf as octets", "application/octet-stream", "%PDF-1.7 x", "PDF"},
		{"picture", "image/png", "x", "image/png"},
		{"video", "video/mp4", "x", "video/mp4"},
		{"archive", "application/zip", "PK", "application/zip"},
		{"word", "application/msword", "x", "application/msword"},
		{"rtf", "text/rtf", "x", "something else"},
		{"unsaid binary", "", "\x01\x02\xff", "binary"},
		{"binary as text", "text/plain", "abc\x00\x01", "binary"},
		{"binary as HTML", "text/html", "<p>\x00\x01", "binary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := fetchFrom(t, Config{}, body(c.contentType, c.body))
			e := wantKind(t, err, tool.Failed)
			assert.That(t, strings.Contains(e.Message, c.message), "message = %q, want something about %q", e.Message, c.message)
		})
	}
}

func TestPictureIsRefusedBeforeItIsDownloaded(t *testing.T) {
	_, _, err := fetchFrom(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/jpeg")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // only the client's leaving ends this
	})
	wantKind(t, err, tool.Failed)
}

func TestEmptyPageIsAnErrorNotASource(t *testing.T) {
	for _, content := range []string{"", " \n ", "<title>App</title><div id=root></div><script>render()</script>",
		"<svg><text>x</text></svg>"} {
		_, _, err := fetchFrom(t, Config{}, body("text/html", content))
		wantKind(t, err, tool.Failed)
	}
}

func TestCharactersAreDecoded(t *testing.T) {
	filler := strings.Repeat("<!-- -->", 200) // more than what a guess looks at
	for _, c := range []struct{ name, contentType, body, want string }{
		{"header", "text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		{"header in quotes", `text/html; charset="windows-1251"`, "<p>\xcc\xe8\xf0", "Мир"},
		{"declared in the page", "text/html", "<meta charset=shift_jis><p>\x93\xfa\x96\x7b", "日本"},
		{"byte order mark wins", "text/plain; charset=iso-8859-1", "\xef\xbb\xbfcafé", "café"},
		{"UTF-16 with a mark", "text/plain", "\xff\xfeh\x00i\x00", "hi"},
		{"UTF-8 undeclared", "text/plain", "Grüße", "Grüße"},
		{"UTF-8 undeclared, far down", "text/html", filler + "<p>Grüße", "Grüße"},
		{"neither declared nor UTF-8", "text/html", "<p>\x93quoted\x94", "“quoted”"},
		{"broken UTF-8", "text/plain; charset=utf-8", "a\xffb", "a\uFFFDb"},
		{"unknown name", "text/plain; charset=klingon", "Grüße", "Grüße"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, data, err := fetchFrom(t, Config{}, body(c.contentType, c.body))
			assert.NoError(t, err)
			assert.That(t, data.Text == c.want, "text = %q, want %q", data.Text, c.want)
		})
	}
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	assert.Must(w.Write(content))(t)
	assert.NoError(t, w.Close())
	return out.Bytes()
}

func TestBodiesAreBounded(t *testing.T) {
	const limit = 64 << 10
	bomb := zipped(t, make([]byte, 20<<20))
	assert.Require(t, len(bomb) <= limit, "the bomb has %d bytes and would be refused for these alone", len(bomb))
	endless := func(w http.ResponseWriter, chunk []byte) {
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"announced": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000000000")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) { endless(w, make([]byte, 4096)) },
		"gzip bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		},
		"endless gzip of nothing": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			endless(w, zipped(t, nil))
		},
		"one byte too many": body("text/plain", strings.Repeat("a", limit+1)),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := fetchFrom(t, Config{MaxBytes: limit}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				handler(w, r)
			})
			wantKind(t, err, tool.TooLarge)
		})
	}
	_, _, err := fetchFrom(t, Config{MaxBytes: limit}, body("text/plain", strings.Repeat("a", limit)))
	assert.That(t, err == nil, "a page of exactly the limit: %v", err)
}

func TestBombIsNotInflatedBeyondTheLimit(t *testing.T) {
	bomb := zipped(t, make([]byte, 50<<20))
	resp := &http.Response{
		Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(bytes.NewReader(bomb)), ContentLength: -1,
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readBody(resp, 256<<10)
	runtime.ReadMemStats(&after)
	wantKind(t, err, tool.TooLarge)
	allocated := after.TotalAlloc - before.TotalAlloc
	assert.That(t, allocated <= 8<<20, "%d MB were allocated for a limit of 256 KB", allocated>>20)
}

func TestBrokenBodiesAreErrors(t *testing.T) {
	encoded := func(encoding string, content []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", encoding)
			_, _ = w.Write(content)
		}
	}
	whole := zipped(t, []byte(strings.Repeat("hello ", 1000)))
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		kind    tool.Kind
	}{
		{"not asked for", encoded("br", []byte("x")), tool.Failed},
		{"zipped twice", encoded("gzip, gzip", whole), tool.Failed},
		{"no gzip at all", encoded("gzip", []byte("plain words that are no gzip")), tool.Failed},
		{"gzip cut short", encoded("gzip", whole[:len(whole)/2]), tool.Unavailable},
		{"cut short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "only this")
		}, tool.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := fetchFrom(t, Config{}, c.handler)
			wantKind(t, err, c.kind)
		})
	}
}

func TestSlowServersEndInATimeout(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"no header": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"no body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "and then")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := fetchFrom(t, Config{Timeout: 50 * time.Millisecond}, handler)
			wantKind(t, err, tool.Timeout)
		})
	}
}

func TestCancelEndsTheRequest(t *testing.T) {
	began, left := make(chan struct{}), make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	_, err := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch").Call(ctx, args(t, map[string]any{"url": s.URL}))
	assert.That(t, errors.Is(err, context.Canceled), "error = %v, want context.Canceled", err)
	wantKind(t, err, tool.Cancelled)
	<-left
}

func TestHugeHeadersAreRefused(t *testing.T) {
	_, _, err := fetchFrom(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Filler", strings.Repeat("a", 2*maxHeaderBytes))
	})
	wantKind(t, err, tool.Unavailable)
}

func TestStatusSaysWhatCanBeDone(t *testing.T) {
	for status, kind := range map[int]tool.Kind{
		204: tool.Failed, 304: tool.Failed, 400: tool.Failed, 401: tool.Denied, 403: tool.Denied, 404: tool.NotFound,
		408: tool.Timeout,
		410: tool.NotFound, 418: tool.Failed, 429: tool.Unavailable, 451: tool.Denied, 500: tool.Unavailable,
		502: tool.Unavailable,
		503: tool.Unavailable, 504: tool.Timeout, 599: tool.Unavailable,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			_, _, err := fetchFrom(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
				if status >= 400 {
					_, _ = io.WriteString(w, "words of a stranger")
				}
			})
			e := wantKind(t, err, kind)
			assert.That(t, !strings.Contains(e.Message+e.Hint, "stranger"),
				"the error repeats what the server wrote: %v", e.Message)
			assert.That(t, (status != 429 && status != 503) || strings.Contains(e.Hint, "7 seconds"),
				"the hint %q does not say how long to wait", e.Hint)
		})
	}
}

func TestUnreachableServerIsUnavailable(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL + "/?token=abcdef"}))
	e := wantKind(t, err, tool.Unavailable)
	assert.That(t, !strings.Contains(e.Message, "abcdef") && strings.Contains(e.Message, "refused"),
		"the error repeats the query, or lacks the reason: %q", e.Message)
}

func TestUntrustedCertificateIsRefused(t *testing.T) {
	s := httptest.NewUnstartedServer(body("text/plain", "hello"))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL}))
	e := wantKind(t, err, tool.Unavailable)
	assert.That(t, strings.Contains(e.Message, "certificate"), "message = %q", e.Message)
}

func TestHTTPSAtAPlainPortIsExplained(t *testing.T) {
	s := serve(t, body("text/plain", "hello"))
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": strings.Replace(s.URL, "http://", "https://", 1)}))
	e := wantKind(t, err, tool.Unavailable)
	assert.That(t, strings.Contains(e.Message, "https"), "message = %q", e.Message)
}

func TestLongPageIsReadInParts(t *testing.T) {
	text := strings.Repeat("0123456789", 10)
	s := serve(t, body("text/plain", text))
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	call := func(offset, maxChars int) (tool.Result, error) {
		return fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL, "offset": offset, "max_chars": maxChars}))
	}
	result, err := call(30, 40)
	assert.NoError(t, err)
	want := "URL: " + s.URL + "\nPart: characters 30 to 70 of 100; the rest begins at offset 70\n\n" + text[30:70]
	diff := cmp.Diff(want, result.Text)
	assert.That(t, diff == "" && result.Truncated, "Truncated = %v\n%s", result.Truncated, diff)
	result, err = call(70, 40)
	assert.That(t, err == nil && !result.Truncated && strings.Contains(result.Text, "Part: characters 70 to 100 of 100\n"),
		"the last part: Truncated = %v, error %v\n%s", result.Truncated, err, result.Text)
	_, err = call(100, 40)
	wantKind(t, err, tool.InvalidArgs)
}

func TestPartsFollowingEachOtherAreTheWholePage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c äß€日😀\n]{1,300}`).Draw(t, "text")
		p := FetchData{URL: "https://example.com/", Text: text}
		var joined strings.Builder
		for offset := 0; ; {
			result := assert.Must(cutPage(p, fetchArgs{Offset: offset, MaxChars: rapid.IntRange(1, 50).Draw(t, "max")}))(t)
			var data FetchData
			assert.NoError(t, json.Unmarshal(result.Data, &data))
			joined.WriteString(data.Text)
			assert.Require(t, result.Truncated == (data.Next != 0), "Truncated = %v, Next = %d", result.Truncated, data.Next)
			if offset = data.Next; offset == 0 {
				break
			}
		}
		assert.Require(t, joined.String() == text, "parts = %q, page = %q", joined.String(), text)
	})
}

func TestTextStaysWithinTheBoundOfAllTools(t *testing.T) {
	long := strings.Repeat("日本語😀", 20000)
	s := serve(t, body("text/html; charset=utf-8", "<title>"+long+"</title><p>"+long))
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	result := assert.Must(fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL, "max_chars": 40000})))(t)
	assert.That(t, len(result.Text) <= tool.MaxText && result.Truncated && utf8.ValidString(result.Text),
		"%d bytes, Truncated = %v", len(result.Text), result.Truncated)
	assert.That(t, len(result.Text) >= tool.MaxText-500, "%d bytes: room is wasted", len(result.Text))
}

func TestGarbageInsteadOfHTTPIsUnavailable(t *testing.T) {
	listener := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, err = conn.Read(make([]byte, 1))
		assert.Nil(t, err)
		_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH\r\n\r\n")
		_ = conn.Close()
	}()
	s := &httptest.Server{Listener: listener}
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": "http://" + listener.Addr().String()}))
	e := wantKind(t, err, tool.Unavailable)
	assert.That(t, !strings.Contains(e.Message, "SSH"), "the error repeats what the server wrote: %q", e.Message)
}
