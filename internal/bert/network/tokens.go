package network

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/pretrained"

	"sibyl/internal/bert"
)

// tokens turns text into rows.
type tokens struct {
	tokenizer      *tokenizer.Tokenizer
	specialBreaker *strings.Replacer
	maxTokens      int
}

func loadTokens(f *folder) (t *tokens, err error) {
	defer recoverError(&err)
	data, err := f.read(tokenizerFile, maxTokenizer)
	if err != nil {
		return nil, err
	}
	tk, err := pretrained.FromReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	// What the file says of these was chosen for training; a text is cut and filled here, so that the hypothesis
	// survives.
	tk.WithTruncation(nil)
	tk.WithPadding(nil)
	var pairs []string
	for _, special := range tk.GetSpecialTokens() {
		if runes := []rune(special); len(runes) > 1 {
			pairs = append(pairs, special, string(runes[:1])+" "+string(runes[1:]))
		}
	}
	return &tokens{tokenizer: tk, specialBreaker: strings.NewReplacer(pairs...), maxTokens: f.maxTokens}, nil
}

// row encodes a text, and a hypothesis unless that is empty. If the text is too long, its head and tail are used.
func (t *tokens) row(text, hypothesis string) (r row, err error) {
	defer recoverError(&err)
	text, hypothesis = t.specialBreaker.Replace(text), t.specialBreaker.Replace(hypothesis)
	for {
		encoding, err := t.encode(text, hypothesis)
		if err != nil {
			return row{}, err
		}
		n := len(encoding.Ids)
		if n <= t.maxTokens {
			return row{encoding.Ids, encoding.TypeIds}, nil
		}
		length := len([]rune(text))
		if length <= 1 {
			return row{}, fmt.Errorf("the hypothesis %q alone is %d tokens long; the model reads %d",
				hypothesis, n, t.maxTokens)
		}
		text = bert.Excerpt(text, length*t.maxTokens/n)
	}
}

func (t *tokens) encode(text, hypothesis string) (*tokenizer.Encoding, error) {
	if hypothesis == "" {
		return t.tokenizer.EncodeSingle(text, true)
	}
	return t.tokenizer.EncodePair(text, hypothesis, true)
}
