package eval

import (
	"context"
	"fmt"
	"sync"

	"sibyl/internal/model"
)

// Player is a model that plays a transcript, turn by turn, in the order in which it is asked. It is safe for concurrent use.
type Player struct {
	transcript Transcript
	mu         sync.Mutex
	asked      int
}

// NewPlayer returns a local model called "transcript:" and the transcript's id.
func NewPlayer(t Transcript) *Player { return &Player{transcript: t} }

// PlayerProvider is the provider part of a player's id.
const PlayerProvider = "transcript"

func (p *Player) ID() string { return PlayerProvider + ":" + p.transcript.ID }

func (p *Player) Local() bool { return true }

// Chat plays the next turn, its text in pieces as from a hosted model.
func (p *Player) Chat(ctx context.Context, _ model.Request, emit func(model.Delta) error) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{Model: p.ID()}, &model.Error{Kind: model.KindOf(err), Model: p.ID(), Err: err}
	}
	p.mu.Lock()
	p.asked++
	n := p.asked
	p.mu.Unlock()
	r := p.transcript.Turn(n)
	r.Model, r.Attempts = p.ID(), 1
	if emit == nil {
		return r, nil
	}
	const piece = 97 // runes; an odd size cuts signals at odd places
	for rest, sent := []rune(r.Text), 0; len(rest) > 0; {
		part := string(rest[:min(piece, len(rest))])
		sent += len(part)
		rest = rest[min(piece, len(rest)):]
		if err := emit(model.Delta{Text: part}); err != nil {
			return model.Response{Text: r.Text[:sent], Model: p.ID()}, fmt.Errorf("playing %s: %w", p.transcript.ID, err)
		}
	}
	return r, nil
}
