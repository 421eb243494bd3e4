package modeltest

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sibyl/internal/model"
)

//go:embed testdata/recordings/*.txt
var recordingFiles embed.FS

// Recording is an answer of a real model, as it came over the wire of OpenAI's chat.
type Recording struct {
	Name   string
	Body   string   // its events
	Chunks []string // the text of each
	Finish model.Finish
	Usage  model.Usage
}

// Raw sends what came, byte by byte.
func (r Recording) Raw() Answer { return Answer{Raw: &Raw{Body: r.Body}} }

// Answer is the same answer for any protocol.
func (r Recording) Answer() Answer { return Answer{Chunks: r.Chunks, Finish: r.Finish, Usage: r.Usage} }

// Text is all that the model wrote.
func (r Recording) Text() string { return strings.Join(r.Chunks, "") }

// recordedWindow is how many pieces a model wrote that repeats itself: then its window was full. repeatedPieces of them
// are written again and again.
const (
	recordedWindow = 8192
	repeatedPieces = 200
)

// recordedEvent is what an event of a recording may say.
type recordedEvent struct {
	Choices []struct {
		Finish string `json:"finish_reason"`
		Delta  struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Usage struct {
		Input   int `json:"prompt_tokens"`
		Output  int `json:"completion_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// Recordings returns all recordings, by name.
func Recordings() (map[string]Recording, error) {
	files, err := recordingFiles.ReadDir("testdata/recordings")
	if err != nil {
		return nil, err
	}
	all := map[string]Recording{}
	for _, f := range files {
		text, err := recordingFiles.ReadFile("testdata/recordings/" + f.Name())
		if err != nil {
			return nil, err
		}
		r, err := parseRecording(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		r.Name = strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
		all[r.Name] = r
	}
	return all, nil
}

const (
	eventMark    = "data: "
	lastEvent    = eventMark + "[DONE]"
	firstDelta   = `"delta":{"role":"assistant","content":null}`
	openFinish   = `"finish_reason":null`
	lengthFinish = `"finish_reason":"length"`
)

// parseRecording reads a file of events, and of lists of texts that stand for events.
func parseRecording(text string) (r Recording, err error) {
	first, events := "", []string(nil)
	delta := func(content string) string {
		raw, _ := json.Marshal(content) // a text
		return strings.Replace(first, firstDelta, `"delta":{"content":`+string(raw)+`}`, 1)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		var pieces []string
		switch {
		case line == "":
		case strings.HasPrefix(line, eventMark):
			if first == "" {
				first = line
			}
			events = append(events, line)
		case json.Unmarshal([]byte(line), &pieces) == nil && strings.Contains(first, firstDelta):
			for _, p := range pieces {
				events = append(events, delta(p))
			}
		default:
			return r, fmt.Errorf("no event and no list of texts: %.60q", line)
		}
	}
	isWhole := slices.Contains(events, lastEvent)
	if err := r.read(events); err != nil {
		return r, err
	}
	if !isWhole {
		if len(r.Chunks) < repeatedPieces {
			return r, errors.New("it was cut off before it repeated itself")
		}
		for again := r.Chunks[len(r.Chunks)-repeatedPieces:]; len(r.Chunks) < recordedWindow; {
			for _, p := range again {
				r.Chunks = append(r.Chunks, p)
				events = append(events, delta(p))
			}
		}
		r.Finish = model.FinishLength
		end := strings.Replace(strings.Replace(first, firstDelta, `"delta":{}`, 1), openFinish, lengthFinish, 1)
		events = append(events, end, lastEvent)
	}
	r.Body = strings.Join(events, "\n\n") + "\n\n"
	return r, nil
}

// read takes the texts, the end and the usage from events.
func (r *Recording) read(events []string) error {
	r.Finish = model.FinishStop
	for _, line := range events {
		if line == lastEvent {
			continue
		}
		var e recordedEvent
		if err := json.Unmarshal([]byte(strings.TrimPrefix(line, eventMark)), &e); err != nil {
			return err
		}
		for _, c := range e.Choices {
			if c.Delta.Content != "" {
				r.Chunks = append(r.Chunks, c.Delta.Content)
			}
		}
		if e.Usage.Output > 0 {
			r.Usage = model.Usage{InputTokens: e.Usage.Input, OutputTokens: e.Usage.Output,
				CachedTokens: e.Usage.Details.Cached}
		}
	}
	return nil
}
