package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostLine bounds a message on a stream, in bytes.
const mostLine = 4 << 20

// Stream answers one client on a pair of streams, for one owner, until in ends or ctx is done. What is under way when in ends is answered first.
func (s *Server) Stream(ctx context.Context, owner string, in io.Reader, out io.Writer) error {
	err := s.For(owner, "").Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: keptOpen{out}, MaxLineLength: mostLine})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// keptOpen is a writer that outlives its client.
type keptOpen struct{ io.Writer }

// Close implements io.Closer.
func (keptOpen) Close() error { return nil }
