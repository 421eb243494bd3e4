package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// confirm asks a question at the terminal, and says whether the answer is yes. Stopping it is an error.
func (c *command) confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(c.Err, printable(question))
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(c.In).ReadString('\n')
		answers <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.Err)
		return false, withCode(ExitStopped, context.Cause(ctx))
	case a := <-answers:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return false, fmt.Errorf("the answer can't be read: %w", a.err)
		}
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(a.line))), nil
	}
}
