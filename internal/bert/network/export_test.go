package network

// Read returns the tokens that the model in dir would read.
func Read(dir, text, hypothesis string) (tokens, segments []int, err error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	t, err := loadTokens(f)
	if err != nil {
		return nil, nil, err
	}
	r, err := t.row(text, hypothesis)
	return r.tokens, r.segments, err
}

// The bounds as the tests see them.
const (
	MostTokens     = maxTokensAlone
	MostTokensPair = mostTokensPair
)
