package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Embed turns texts into vectors, 64 in a request.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	return m.Client.Embed(ctx, texts, "embeddings", func(some []string) any {
		return map[string]any{"model": m.config.Model, "input": some}
	}, readVectors)
}

// readVectors reads the vectors, and sorts them by the index of their texts.
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

// Transcribe transcribes audio, with times if the endpoint gives them. OpenAI's newer models return the text alone. An
// endpoint that rejects a request for more is asked once more for the text alone, if the audio's Content is an
// io.Seeker; the Model remembers that.
func (m *Model) Transcribe(ctx context.Context, audio model.Audio) (model.Transcript, error) {
	if strings.HasPrefix(m.config.Model, "gpt-") || m.textOnly.Load() {
		return m.transcribeAs(ctx, audio, "json")
	}
	t, err := m.transcribeAs(ctx, audio, "verbose_json")
	content, seekable := audio.Content.(io.Seeker)
	if err == nil || !seekable || model.KindOf(err) != model.Invalid || !wire.ContainsAny(strings.ToLower(err.Error()),
		"response_format", "verbose_json") {
		return t, err
	}
	if _, seekErr := content.Seek(0, io.SeekStart); seekErr != nil {
		return t, err
	}
	t, err = m.transcribeAs(ctx, audio, "json")
	if err == nil {
		m.textOnly.Store(true)
	}
	return t, err
}

func (m *Model) transcribeAs(ctx context.Context, audio model.Audio, format string) (model.Transcript, error) {
	return m.UploadAudio(ctx, "audio/transcriptions", audio,
		[][2]string{{"model", m.config.Model}, {"response_format", format}, {"language", audio.Language},
			{"prompt", audio.Prompt}})
}
