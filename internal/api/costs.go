package api

import (
	"context"
	"time"

	"sibyl/internal/service"
)

// The bounds of one look at what a session cost.
const (
	mostCosted = 1000 // runs
	costTime   = 5 * time.Second
)

func (s *Server) costs(ctx context.Context, in *SessionPath) (service.Costs, error) {
	id, err := known(in.Session)
	if err != nil {
		return service.Costs{}, err
	}
	return s.config.Service.Costs(ctx, exchangeOf(ctx).owner(), id, mostCosted, costTime)
}
