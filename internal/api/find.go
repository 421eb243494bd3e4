package api

import (
	"context"

	"sibyl/internal/service"
)

func (s *Server) find(ctx context.Context, in *struct {
	Words     string `query:"q" required:"true" minLength:"1" maxLength:"1000" doc:"The words; all must be there, whatever their case and accents."`
	Assistant string `query:"assistant" doc:"Only what is of this assistant."`
	Times
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many at most."`
	After string `query:"after" maxLength:"500" doc:"Where the list goes on: next of the part before."`
}) (found service.Hits, err error) {
	if err := checkFilters(in.Assistant); err != nil {
		return found, err
	}
	return s.config.Service.Find(ctx, ownerOf(ctx), service.Query{
		Words: in.Words, Assistant: in.Assistant, From: in.From, To: in.To, Limit: in.Limit, After: in.After})
}
