package anthropic_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
)

// canned answers every request with one recorded body, a part per Read as from a socket, and so leaves only the
// client's own work to measure.
type canned struct{ parts [][]byte }

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(&partReader{parts: c.parts}),
	}, nil
}

type partReader struct{ parts [][]byte }

func (r *partReader) Read(p []byte) (int, error) {
	if len(r.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.parts[0])
	r.parts = r.parts[1:]
	return n, nil
}

// BenchmarkStream100Chunks compares the adapter with the official client, reading an answer of 2 KB in 100 parts.
func BenchmarkStream100Chunks(b *testing.B) {
	text := strings.Repeat(textDelta(0, "word word word word \n"[:20]), 100)
	whole := start + begin(0, textBlock) + ping + text + end(0) + finish("end_turn") + stop
	client := &http.Client{Transport: canned{bytes.SplitAfter([]byte(whole), []byte("\n\n"))}}
	for _, c := range []struct {
		name string
		chat func() (string, error)
	}{{"official", officialChat(client)}, {"sibyl", sibylChat(client)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if text, err := c.chat(); err != nil || len(text) != 2000 {
					b.Fatalf("%d bytes, %v", len(text), err)
				}
			}
		})
	}
}

func officialChat(client *http.Client) func() (string, error) {
	messages := sdk.NewMessageService(option.WithHTTPClient(client), option.WithMaxRetries(0),
		option.WithBaseURL("http://house"), option.WithoutOpenTelemetry())
	return func() (string, error) {
		stream := messages.NewStreaming(context.Background(), sdk.MessageNewParams{
			Model: "m", MaxTokens: 100, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("hello"))},
		})
		defer func() { _ = stream.Close() }()
		var text strings.Builder
		for stream.Next() {
			text.WriteString(stream.Current().Delta.Text)
		}
		return text.String(), stream.Err()
	}
}

func sibylChat(client *http.Client) func() (string, error) {
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: "http://house", HTTPClient: client, Idle: 1 << 40})
	req := hello()
	return func() (string, error) {
		resp, err := m.Chat(context.Background(), req, func(model.Delta) error { return nil })
		return resp.Text, err
	}
}
