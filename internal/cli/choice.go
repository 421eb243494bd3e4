package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/model"
)

// dialogue prints questions to stderr and reads the answers line by line.
type dialogue struct{ c *command }

// readTyped returns the next line of c.In with its end, within ctx. All lines are read here, through one buffer, so
// that none gets lost.
func (c *command) readTyped(ctx context.Context) (string, error) {
	if c.typed == nil {
		c.typed = bufio.NewReader(c.In)
	}
	return waitWithin(ctx, func() (string, error) { return c.typed.ReadString('\n') })
}

// errNoMore reports that the input ended before a question was answered.
var errNoMore = errors.New("the input ended")

// ask prints a question and returns the line that answers it, without surrounding space. If ctx is cancelled or the
// input ends (errNoMore), the error has ExitStopped.
func (d *dialogue) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(d.c.Err, printable(question))
	line, err := d.c.readTyped(ctx)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(d.c.Err)
		return "", withCode(ExitStopped, context.Cause(ctx))
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("reading your answer: %w", err)
	case err != nil && line == "":
		return "", withCode(ExitStopped, errNoMore)
	}
	return strings.TrimSpace(line), nil
}

// confirm asks a question and reports whether the answer is yes, not at the end of the input. Cancelling is an error.
func (c *command) confirm(ctx context.Context, question string) (bool, error) {
	typed, err := (&dialogue{c}).ask(ctx, question)
	if errors.Is(err, errNoMore) {
		return false, nil
	}
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(typed)), err
}

// mostOffered is how many options choose shows at once; the others are found by a part of their name.
const mostOffered = 9

// choice is a question that offers several options.
type choice struct {
	title, prompt string
	offered       []string
	about         map[string]string       // descriptions, by option; nil: none
	usual         string                  // what Enter chooses; "": Enter lists the options again
	own           func(typed string) bool // accepts an answer as typed; nil: none
}

// choose asks until one option is chosen: by its number, its name, or what only one part of this name begins with. What
// fits several names lists those. An answer that fits none, or that own accepts, is returned as typed.
func (d *dialogue) choose(ctx context.Context, c choice) (string, error) {
	for shown := c.offered; ; {
		fmt.Fprintln(d.c.Err, printable(c.title))
		for i, one := range shown[:min(mostOffered, len(shown))] {
			line := fmt.Sprintf("  %d  %s", i+1, printable(one))
			if about := c.about[one]; about != "" {
				line = ansi.Truncate(fmt.Sprintf("  %d  %-14s %s", i+1, printable(one), about), d.c.width()-1, "…")
			}
			fmt.Fprintln(d.c.Err, line)
		}
		if rest := len(shown) - mostOffered; rest > 0 {
			fmt.Fprintf(d.c.Err, "     and %d more: type a part of the name\n", rest)
		}
		prompt := c.prompt + ": "
		if at := slices.Index(shown[:min(mostOffered, len(shown))], c.usual); at >= 0 {
			prompt = fmt.Sprintf("%s [%d]: ", c.prompt, at+1)
		} else if c.usual != "" {
			prompt = fmt.Sprintf("%s [%s]: ", c.prompt, c.usual)
		}
		typed, err := d.ask(ctx, prompt)
		if err != nil {
			return "", err
		}
		fitting := slices.DeleteFunc(slices.Clone(c.offered), func(one string) bool {
			return typed != "" && !model.NameFits(one, typed)
		})
		n, notNumber := strconv.Atoi(typed)
		switch {
		case typed == "" && c.usual != "":
			return c.usual, nil
		case typed != "" && (slices.Contains(c.offered, typed) || c.own != nil && c.own(typed)):
			return typed, nil
		case notNumber == nil && n >= 1 && n <= min(mostOffered, len(shown)):
			return shown[n-1], nil
		case len(fitting) == 1:
			return fitting[0], nil
		case len(fitting) == 0:
			return typed, nil
		}
		shown = fitting
	}
}
