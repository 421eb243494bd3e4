package model

import (
	"context"
	"io"
)

// Embedder turns texts into vectors whose distance says how near the texts are in meaning. Guarantees of each (checked
// by the suite in modeltest):
//   - There is one vector for each text, in their order, all of one length. Without texts no request is made.
//   - Nothing is cut off in silence: a text that the model can't take is ContextLength.
//   - Errors, cancelling and retries are as with Model.Chat.
type Embedder interface {
	Embed(ctx context.Context, texts []string) (vectors [][]float32, usage Usage, err error)
}

// Transcriber turns speech into text. Guarantees of each (checked by the suite in modeltest):
//   - The text is what was said and nothing more, without white space around it; empty for silence.
//   - Audio that can't be read, or has more bytes than allowed (MaxAudio unless the Transcriber says otherwise), is
//     Invalid, and not sent.
//   - Errors, cancelling and retries are as with Model.Chat.
type Transcriber interface {
	Transcribe(ctx context.Context, audio Audio) (Transcript, error)
}

// MaxAudio bounds the audio of one transcription, in bytes, as hosted providers do.
const MaxAudio = 25 << 20

// Audio is a recording. Name's ending says its format: "note.ogg". Language, as in "pt", and Prompt, words that are
// likely to be heard, may be empty.
type Audio struct {
	Name     string
	Content  io.Reader
	Language string
	Prompt   string
}

// Transcript is what was said. Language, Seconds and Segments are zero if the provider does not report them.
type Transcript struct {
	Text     string
	Language string
	Seconds  float64
	Segments []Segment
}

// Segment is a part of a transcript. Start and End are in seconds; NoSpeech is how likely it is that nobody speaks in
// it, 0-1, and Confidence is the mean probability of its tokens; 0: not reported.
type Segment struct {
	Start, End float64
	Text       string
	NoSpeech   float64
	Confidence float64
}
