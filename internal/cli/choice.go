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
)

// dialogue asks a person at the terminal, line by line. Questions go to stderr.
type dialogue struct {
	c     *command
	lines *bufio.Reader
}

// newDialogue gives a dialogue over what is typed. All of a command read from one place: none takes lines that another
// is to have.
func (c *command) newDialogue() *dialogue {
	if c.typed == nil {
		c.typed = bufio.NewReader(c.In)
	}
	return &dialogue{c: c, lines: c.typed}
}

// errNoMore is the end of what a person types, before all was answered.
var errNoMore = errors.New("the input ended")

// ask gives the line that answers a question, without the space around it. Stopping it and the end of the input are
// errors.
func (d *dialogue) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(d.c.Err, printable(question))
	line, err := waitWithin(ctx, func() (string, error) { return d.lines.ReadString('\n') })
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

// confirm asks a question at the terminal, and says whether the answer is yes. Stopping it is an error.
func (c *command) confirm(ctx context.Context, question string) (bool, error) {
	typed, err := c.newDialogue().ask(ctx, question)
	if errors.Is(err, errNoMore) {
		return false, nil
	}
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(typed)), err
}

// mostOffered bounds how many answers are shown at once. The others are found by a part of their name.
const mostOffered = 9

// choice is what a person chooses from.
type choice struct {
	title, prompt string
	offered       []string
	about         map[string]string       // what is told of one; nil: nothing is
	usual         string                  // what Enter takes; "": the person has to say
	own           func(typed string) bool // what stands for itself, and is no part of a name; nil: nothing does
}

// choose has the person choose one of what is offered: by its number, its name, or a part of the name that no other
// has. A part that several have shows those. What fits nothing, or stands for itself, is returned as it was typed.
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
			return !strings.Contains(strings.ToLower(one), strings.ToLower(typed))
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
