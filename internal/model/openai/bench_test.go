package openai_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/sashabaranov/go-openai"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

// hundredChunks is an answer of 2 KB in 100 parts, given to every request.
func hundredChunks() modeltest.Answer {
	chunk := strings.Repeat("word ", 4) + "\n"
	chunks := make([]string, 100)
	for i := range chunks {
		chunks[i] = chunk[:20]
	}
	return modeltest.Answer{Chunks: chunks, Usage: model.Usage{InputTokens: 10, OutputTokens: 500}, Repeat: true}
}

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

func record(b *testing.B, baseURL string) canned {
	b.Helper()
	resp, err := http.Post(baseURL+"/chat/completions", "application/json", strings.NewReader(`{"stream_options":{"include_usage":true}}`))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return canned{bytes.SplitAfter(body, []byte("\n\n"))}
}

// BenchmarkStream100Chunks compares the adapter with go-openai's client and with the least that net/http and
// encoding/json can do: "client" is the client's work alone, "loopback" a whole request to a server in this process.
func BenchmarkStream100Chunks(b *testing.B) {
	server := modeltest.NewOpenAIServer(b, hundredChunks())
	transport := http.DefaultTransport.(*http.Transport).Clone()
	b.Cleanup(transport.CloseIdleConnections)
	b.Cleanup(http.DefaultClient.CloseIdleConnections)
	for _, way := range []struct {
		name string
		trip http.RoundTripper
	}{{"client", record(b, server.BaseURL)}, {"loopback", transport}} {
		client := &http.Client{Transport: way.trip}
		for _, c := range []struct {
			name string
			chat func() (string, error)
		}{
			{"bare", func() (string, error) { return bareChat(client, server.BaseURL) }},
			{"goopenai", goOpenAIChat(client, server.BaseURL)},
			{"sibyl", sibylChat(client, server.BaseURL)},
		} {
			b.Run(way.name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if text, err := c.chat(); err != nil || len(text) != 2000 {
						b.Fatalf("%d bytes, %v", len(text), err)
					}
				}
			})
		}
	}
}

func bareChat(client *http.Client, baseURL string) (string, error) {
	body, err := json.Marshal(map[string]any{
		"model": "m", "stream": true, "messages": []any{map[string]any{"role": "user", "content": "hello"}},
	})
	if err != nil {
		return "", err
	}
	resp, err := client.Post(baseURL+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || string(data) == "[DONE]" {
			continue
		}
		var part struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(data, &part); err != nil {
			return "", err
		}
		for _, c := range part.Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	return text.String(), lines.Err()
}

func goOpenAIChat(client *http.Client, baseURL string) func() (string, error) {
	config := sdk.DefaultConfig("")
	config.BaseURL, config.HTTPClient = baseURL, client
	c := sdk.NewClientWithConfig(config)
	return func() (string, error) {
		stream, err := c.CreateChatCompletionStream(context.Background(), sdk.ChatCompletionRequest{
			Model: "m", Messages: []sdk.ChatCompletionMessage{{Role: "user", Content: "hello"}},
			StreamOptions: &sdk.StreamOptions{IncludeUsage: true},
		})
		if err != nil {
			return "", err
		}
		defer func() { _ = stream.Close() }()
		var text strings.Builder
		for {
			part, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return text.String(), nil
			}
			if err != nil {
				return "", err
			}
			for _, choice := range part.Choices {
				text.WriteString(choice.Delta.Content)
			}
		}
	}
}

func sibylChat(client *http.Client, baseURL string) func() (string, error) {
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: baseURL, HTTPClient: client, Idle: 1 << 40})
	req := hello()
	return func() (string, error) {
		resp, err := m.Chat(context.Background(), req, func(model.Delta) error { return nil })
		return resp.Text, err
	}
}
