// Package modeltest holds what tests need of a chat model: a suite that every adapter passes, a model that plays a
// script, and a fake provider for each protocol that an adapter speaks: OpenAI's, Anthropic's, Gemini's and Ollama's own.
//
// Guarantees:
//   - Everything here is safe for concurrent use, sleeps on no clock but a test's own, and opens no connection but on the loopback interface.
//   - A server and a script give their Answers and Turns in order, one to a request, and record each request before they
//     answer it. One for which nothing is left fails the test. A server that plays a part makes its Answers of the requests.
//   - A server stops with its test, and fails it for a request without an answer; one without a test belongs to its caller, who closes it.
package modeltest

import (
	"net/http"
	"time"

	"sibyl/internal/model"
)

// Answer is what a fake provider does with one request, in no provider's own terms. The zero Answer is an empty turn.
type Answer struct {
	// Chunks is the text, one part of the stream each. Calls are streamed in parts that interleave.
	Chunks []string
	Calls  []model.ToolCall

	// Finish defaults to FinishTools if there are calls and to FinishStop if not. Zero Usage: none is reported.
	Finish model.Finish
	Usage  model.Usage

	// Vectors and Transcript answer a request for embedding, or for transcription. Of the stream they break before they begin.
	Vectors    [][]float32
	Transcript model.Transcript

	// Fail makes the request fail at once, as the provider reports this kind, asking to wait for RetryAfter.
	Fail       model.Kind
	RetryAfter time.Duration

	// Break ends the stream after the chunks and calls in another way than by finishing it.
	Break Break

	// Raw, if set, is sent as it stands in the place of everything above.
	Raw *Raw

	// Repeat makes this the answer to every further request as well.
	Repeat bool
}

// Break is a way in which a stream goes wrong.
type Break string

// How a stream may break.
const (
	Cut     Break = "cut"     // the connection ends in the middle of a part
	Hang    Break = "hang"    // nothing more comes until the request ends
	Garbage Break = "garbage" // a part is not what the protocol promises
	Open    Break = "open"    // all of it comes, but the response does not end until the request does
)

// Raw is an HTTP response. Status 0 is 200.
type Raw struct {
	Status int
	Header http.Header
	Body   string
}

// Stream returns the answer with these chunks of text.
func Stream(chunks ...string) Answer { return Answer{Chunks: chunks} }
