package model

import "context"

// Reading says how far a model is with reading a request, before it writes. The zero Reading: it reads no more.
type Reading struct {
	Tokens int // that it reads, without those that its server remembers
	Read   int // of them; 0 where the server does not tell
}

// WithReading returns m, which tells how far it is with reading each request: at the beginning by an estimate what
// there is to read, then what its server says, and a zero Reading once it writes or fails. Models elsewhere read in no
// time, so of these only what the server says is told.
func WithReading(m Model, tell func(Reading)) Model { return &readingModel{m, tell} }

type readingModel struct {
	Model
	tell func(Reading)
}

func (m *readingModel) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	reads := false
	tell := func(r Reading) {
		if reads || r.Tokens > 0 {
			m.tell(r)
		}
		reads = r.Tokens > 0
	}
	if m.Local() {
		tell(Reading{Tokens: req.Tokens()})
	}
	resp, err := m.Model.Chat(ctx, req, func(d Delta) error {
		if d.Reading != nil {
			tell(*d.Reading)
			return nil
		}
		tell(Reading{})
		if emit == nil {
			return nil
		}
		return emit(d)
	})
	tell(Reading{})
	return resp, err
}

// bytesOfToken estimates the tokens of a text.
const bytesOfToken = 4

// Tokens estimates the tokens of the texts of a request.
func (r Request) Tokens() int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n / bytesOfToken
}
