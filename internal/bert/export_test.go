package bert

import "time"

// SetClock makes c see the time that now tells.
func (c *Classifier) SetClock(now func() time.Time) { c.now = now }

// Busy takes the turn, as a question under way does, until it is given back.
func (c *Classifier) Busy() (giveBack func()) {
	<-c.turn
	return func() { c.turn <- struct{}{} }
}

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

// Excerpt is excerpt.
func Excerpt(text string, n int) string { return excerpt(text, n) }

// The bounds as the tests see them.
const (
	MostTokens     = mostTokens
	MostTokensPair = mostTokensPair
	Rest           = rest
)
