package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Embed turns texts into vectors, 64 in a request.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	return m.Client.Embed(ctx, texts, "embeddings", func(some []string) any {
		return map[string]any{"model": m.name, "input": some}
	}, readVectors)
}

// readVectors puts the vectors in the order of their texts, which their index tells.
func readVectors(answer []byte) (v wire.Vectors, err error) {
	var body struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage usage `json:"usage"`
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		return v, err
	}
	v.List = make([][]float32, len(body.Data))
	for _, d := range body.Data {
		if d.Index < 0 || d.Index >= len(v.List) {
			return v, errors.New("a vector is of no text")
		}
		v.List[d.Index] = d.Embedding
	}
	v.Usage.InputTokens = body.Usage.PromptTokens
	return v, nil
}

// Transcribe writes down audio. OpenAI's newer models tell the text alone.
func (m *Model) Transcribe(ctx context.Context, audio model.Audio) (model.Transcript, error) {
	format := "verbose_json"
	if strings.HasPrefix(m.name, "gpt-") {
		format = "json"
	}
	var body struct {
		Text     *string `json:"text"`
		Language string  `json:"language"`
		Duration float64 `json:"duration"`
		Segments []struct {
			Start    float64 `json:"start"`
			End      float64 `json:"end"`
			Text     string  `json:"text"`
			NoSpeech float64 `json:"no_speech_prob"`
		} `json:"segments"`
	}
	fields := [][2]string{{"model", m.name}, {"response_format", format}, {"language", audio.Language}, {"prompt", audio.Prompt}}
	if err := m.Upload(ctx, "audio/transcriptions", audio, fields, &body, func() bool { return body.Text != nil }); err != nil {
		return model.Transcript{}, err
	}
	t := model.Transcript{Text: strings.TrimSpace(*body.Text), Language: body.Language, Seconds: body.Duration}
	for _, s := range body.Segments {
		t.Segments = append(t.Segments, model.Segment{Start: s.Start, End: s.End, Text: strings.TrimSpace(s.Text), NoSpeech: s.NoSpeech})
	}
	return t, nil
}
