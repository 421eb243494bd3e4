package model_test

import (
	"context"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// emitting is a model that emits these pieces.
type emitting struct {
	*modeltest.Scripted
	local  bool
	pieces []model.Delta
}

func (m *emitting) Local() bool { return m.local }

func (m *emitting) Chat(_ context.Context, _ model.Request, emit func(model.Delta) error) (model.Response, error) {
	for _, d := range m.pieces {
		if err := emit(d); err != nil {
			return model.Response{}, err
		}
	}
	return model.Response{}, nil
}

func TestReadingIsToldFromTheRequestToTheFirstWord(t *testing.T) {
	share := model.Delta{Reading: &model.Reading{Tokens: 90, Read: 30}}
	word := model.Delta{Text: "word"}
	estimate := model.Reading{Tokens: len("Be exact.Who?") / 4}
	for name, c := range map[string]struct {
		local  bool
		pieces []model.Delta
		want   []model.Reading
	}{
		"on this machine":       {true, []model.Delta{word, word}, []model.Reading{estimate, {}}},
		"with its share":        {true, []model.Delta{share, word}, []model.Reading{estimate, {Tokens: 90, Read: 30}, {}}},
		"until it thinks":       {true, []model.Delta{{Reading: &model.Reading{}}, word}, []model.Reading{estimate, {}}},
		"no word comes":         {true, nil, []model.Reading{estimate, {}}},
		"elsewhere":             {false, []model.Delta{word}, nil},
		"elsewhere with shares": {false, []model.Delta{share, word}, []model.Reading{{Tokens: 90, Read: 30}, {}}},
	} {
		t.Run(name, func(t *testing.T) {
			var told []model.Reading
			text := ""
			m := model.WithReading(&emitting{modeltest.Script(t), c.local, c.pieces}, func(r model.Reading) {
				told = append(told, r)
			})
			_, err := m.Chat(t.Context(), askPerson(), func(d model.Delta) error {
				assert.That(t, d.Reading == nil, "the receiver of the text gets a reading")
				text += d.Text
				return nil
			})
			assert.NoError(t, err)
			assert.Same(t, c.want, told)
			_, err = m.Chat(t.Context(), askPerson(), nil) // nobody receives the text
			assert.NoError(t, err)
			assert.That(t, len(told) == 2*len(c.want), "told %v", told)
		})
	}
}
