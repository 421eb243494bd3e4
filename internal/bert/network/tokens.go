package network

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/pretrained"

	"sibyl/internal/bert"
)

// tokens turns text into what the network reads.
type tokens struct {
	tokenizer *tokenizer.Tokenizer
	defuse    *strings.Replacer
	most      int
}

func loadTokens(f *folder) (t *tokens, err error) {
	defer contained(&err)
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
	return &tokens{tokenizer: tk, defuse: strings.NewReplacer(pairs...), most: f.maxTokens}, nil
}

// row reads a text, and a hypothesis on it if that isn't empty. Of a text that is too long, head and tail are read.
func (t *tokens) row(text, hypothesis string) (r row, err error) {
	defer contained(&err)
	text, hypothesis = t.defuse.Replace(text), t.defuse.Replace(hypothesis)
	for {
		encoding, err := t.encode(text, hypothesis)
		if err != nil {
			return row{}, err
		}
		n := len(encoding.Ids)
		if n <= t.most {
			return row{encoding.Ids, encoding.TypeIds}, nil
		}
		length := len([]rune(text))
		if length <= 1 {
			return row{}, fmt.Errorf("the hypothesis %q alone is %d tokens long; the model reads %d",
				hypothesis, n, t.most)
		}
		text = bert.Excerpt(text, length*t.most/n)
	}
}

func (t *tokens) encode(text, hypothesis string) (*tokenizer.Encoding, error) {
	if hypothesis == "" {
		return t.tokenizer.EncodeSingle(text, true)
	}
	return t.tokenizer.EncodePair(text, hypothesis, true)
}
