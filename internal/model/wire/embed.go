package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"sibyl/internal/model"
)

// maxTexts is how many texts one request embeds: so many of the longest vectors fit into MaxAnswer.
const maxTexts = 64

// Vectors is the answer to a request for embedding, whatever its form.
type Vectors struct {
	List  [][]float32 // one for each text, in their order
	Usage model.Usage
}

// Embed asks path for the vectors of texts, in requests of at most 64. body is the request for some of them; read takes the answer
// out of JSON in the protocol's form.
func (m *Client) Embed(ctx context.Context, texts []string, path string, body func([]string) any, read func([]byte) (Vectors, error)) ([][]float32, model.Usage, error) {
	var all Vectors
	for len(texts) > 0 {
		n := min(len(texts), maxTexts)
		some, err := m.embed(ctx, n, path, body(texts[:n]), read)
		all.Usage = all.Usage.Add(believed(some.Usage))
		if err != nil {
			return nil, all.Usage, err
		}
		all.List, texts = append(all.List, some.List...), texts[n:]
	}
	return all.List, all.Usage, nil
}

func (m *Client) embed(ctx context.Context, n int, path string, body any, read func([]byte) (Vectors, error)) (v Vectors, err error) {
	x, err := m.Open(ctx)
	if err != nil {
		return v, err
	}
	defer x.Close()
	request, err := Marshal(body)
	if err != nil {
		return v, x.Fail(model.Invalid, err.Error(), err)
	}
	var answer json.RawMessage
	err = x.fetch(http.MethodPost, x.m.target(path, nil), jsonType, request, "the answer", &answer, func() bool {
		v, err = read(answer)
		return err == nil && len(v.List) == n && evenlyLong(v.List)
	})
	return v, err
}

func evenlyLong(vectors [][]float32) bool {
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return false
		}
	}
	return true
}

// Upload posts a form of the audio and these fields, empty ones left out, and reads the answer as GetList does.
func (m *Client) Upload(ctx context.Context, path string, audio model.Audio, fields [][2]string, into any, whole func() bool) error {
	x, err := m.Open(ctx)
	if err != nil {
		return err
	}
	defer x.Close()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, f := range fields {
		if f[1] != "" {
			_ = form.WriteField(f[0], f[1]) // into memory
		}
	}
	file, err := form.CreateFormFile("file", audio.Name)
	if err != nil {
		return x.Fail(model.Invalid, err.Error(), err)
	}
	n, err := io.Copy(file, io.LimitReader(audio.Content, model.MaxAudio+1))
	switch {
	case err != nil:
		return x.Fail(model.Invalid, "the audio can't be read: "+err.Error(), err)
	case n > model.MaxAudio:
		return x.Fail(model.Invalid, fmt.Sprintf("the audio is larger than %d MB: cut it into parts", model.MaxAudio>>20), nil)
	}
	_ = form.Close() // into memory
	return x.fetch(http.MethodPost, x.m.target(path, nil), form.FormDataContentType(), body.Bytes(), "the answer", into, whole)
}
