package audio

import (
	"bufio"
	"context"
	"errors"
	"io"
)

// source reads a file from its beginning to its end, over a window in memory. It stops when its context does.
type source struct {
	ctx  context.Context
	file io.ReadSeeker
	buf  *bufio.Reader
	pos  int64
	size int64
}

func newSource(ctx context.Context, file io.ReadSeeker) (*source, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	s := &source{ctx: ctx, file: file, size: size}
	s.buf = bufio.NewReaderSize(watched{s}, 64<<10)
	return s, nil
}

// watched reads the file of a source while its context lasts.
type watched struct{ s *source }

func (w watched) Read(p []byte) (int, error) {
	if err := w.s.ctx.Err(); err != nil {
		return 0, err
	}
	return w.s.file.Read(p)
}

func (s *source) left() int64 { return s.size - s.pos }

// read fills p. At the end of the file it returns io.EOF with nothing read, and io.ErrUnexpectedEOF with a part.
func (s *source) read(p []byte) error {
	n, err := io.ReadFull(s.buf, p)
	s.pos += int64(n)
	return err
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.buf.Read(p)
	s.pos += int64(n)
	return n, err
}

// peek shows at most n of the next bytes, fewer at the end of the file.
func (s *source) peek(n int) ([]byte, error) {
	p, err := s.buf.Peek(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return p, err
}

// skip passes over n bytes; io.ErrUnexpectedEOF says that the file ends before, and is at its end then.
func (s *source) skip(n int64) error {
	if n > s.left() || n < 0 {
		if err := s.seek(s.size); err != nil {
			return err
		}
		return io.ErrUnexpectedEOF
	}
	if n <= int64(s.buf.Size()) {
		done, err := s.buf.Discard(int(n))
		s.pos += int64(done)
		return err
	}
	return s.seek(s.pos + n)
}

func (s *source) seek(to int64) error {
	if _, err := s.file.Seek(to, io.SeekStart); err != nil {
		return err
	}
	s.pos = to
	s.buf.Reset(watched{s})
	return s.ctx.Err()
}

// ended says that an error is the end of the file.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
