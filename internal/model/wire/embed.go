package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"sibyl/internal/model"
)

// maxTexts is how many texts one request embeds: that many of the longest vectors fit into MaxAnswer.
const maxTexts = 64

// Vectors is the answer to a request for embedding, independent of the protocol.
type Vectors struct {
	List  [][]float32 // one for each text, in their order
	Usage model.Usage
}

// Embed asks path for the vectors of texts, in requests of at most 64. body makes the request for some of them; read
// reads an answer, which is JSON in the protocol's form.
func (m *Client) Embed(
	ctx context.Context, texts []string, path string, body func([]string) any, read func([]byte) (Vectors, error),
) ([][]float32, model.Usage, error) {
	var all Vectors
	for len(texts) > 0 {
		n := min(len(texts), maxTexts)
		some, err := withCall(ctx, m, func(x *Call) (Vectors, error) {
			return x.embedBatch(n, path, body(texts[:n]), read)
		})
		all.Usage = all.Usage.Add(some.Usage)
		if err != nil {
			return nil, all.Usage, err
		}
		all.List, texts = append(all.List, some.List...), texts[n:]
	}
	return all.List, all.Usage, nil
}

func (x *Call) embedBatch(n int, path string, body any, read func([]byte) (Vectors, error)) (v Vectors, err error) {
	request, err := Marshal(body)
	if err != nil {
		return v, x.Fail(model.Invalid, err.Error(), err)
	}
	var answer json.RawMessage
	err = x.fetchJSON(http.MethodPost, x.m.addressOf(path, nil), jsonType, request, "the answer", &answer, func() bool {
		v, err = read(answer)
		return err == nil && len(v.List) == n && !slices.ContainsFunc(v.List, func(one []float32) bool {
			return len(one) == 0 || len(one) != len(v.List[0])
		})
	})
	v.Usage = x.plausibleUsage(v.Usage)
	return v, err
}
