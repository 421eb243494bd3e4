package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"strings"

	"sibyl/internal/model"
)

// transcription is the answer to audio in OpenAI's form, which others use too. All but the text may be left out.
type transcription struct {
	Text     *string `json:"text"`
	Language string  `json:"language"`
	Duration float64 `json:"duration"`
	Segments []struct {
		Start    float64  `json:"start"`
		End      float64  `json:"end"`
		Text     string   `json:"text"`
		NoSpeech float64  `json:"no_speech_prob"`
		LogProb  *float64 `json:"avg_logprob"`
	} `json:"segments"`
}

func (h *transcription) transcript() model.Transcript {
	t := model.Transcript{Text: strings.TrimSpace(*h.Text), Language: h.Language, Seconds: h.Duration}
	for _, s := range h.Segments {
		one := model.Segment{Start: s.Start, End: s.End, Text: strings.TrimSpace(s.Text), NoSpeech: s.NoSpeech}
		if s.LogProb != nil {
			one.Confidence = math.Exp(min(*s.LogProb, 0))
		}
		t.Segments = append(t.Segments, one)
	}
	return t
}

// UploadAudio posts a form with the audio and the fields that are not empty, and reads a transcript in OpenAI's form.
func (m *Client) UploadAudio(
	ctx context.Context, path string, audio model.Audio, fields [][2]string,
) (model.Transcript, error) {
	return withCall(ctx, m, func(x *Call) (model.Transcript, error) {
		body, mediaType, err := x.encodeForm(audio, fields)
		if err != nil {
			return model.Transcript{}, err
		}
		var answer transcription
		err = x.fetchJSON(http.MethodPost, m.addressOf(path, nil), mediaType, body, "the answer", &answer, func() bool {
			return answer.Text != nil
		})
		if err != nil {
			return model.Transcript{}, err
		}
		return answer.transcript(), nil
	})
}

// encodeForm encodes audio and fields as a form, and returns its media type.
func (x *Call) encodeForm(audio model.Audio, fields [][2]string) (body []byte, mediaType string, err error) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for _, f := range fields {
		if f[1] != "" {
			_ = form.WriteField(f[0], f[1]) // into memory
		}
	}
	file, err := form.CreateFormFile("file", audio.Name)
	if err != nil {
		return nil, "", x.Fail(model.Invalid, err.Error(), err)
	}
	n, err := io.Copy(file, io.LimitReader(audio.Content, model.MaxAudio+1))
	switch {
	case err != nil:
		return nil, "", x.Fail(model.Invalid, "the audio can't be read: "+err.Error(), err)
	case n > model.MaxAudio:
		return nil, "", x.Fail(model.Invalid, fmt.Sprintf("the audio is larger than %d MB: cut it into parts",
			model.MaxAudio>>20), nil)
	}
	_ = form.Close() // into memory
	return out.Bytes(), form.FormDataContentType(), nil
}
