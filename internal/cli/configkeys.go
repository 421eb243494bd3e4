package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/config"
	"sibyl/internal/keys"
	"sibyl/internal/redact"
)

// longestKey is the most bytes of a key: some keyrings take no more.
const longestKey = 2048

// oneName requires exactly one argument, and explains why a key can't be another.
func oneName(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return fmt.Errorf("whose key? %s NAME", cmd.CommandPath())
	case 1:
		return nil
	}
	return errors.New("give only the name: other programs can see a key on the " +
		"command line, so it is read from standard input")
}

// whoseKey returns the provider or search engine whose keys begin as this one does; "" if that isn't known.
func whoseKey(key string) string {
	for beginning, name := range map[string]string{"sk-ant-": "anthropic", "sk-proj-": "openai", "AIza": "gemini",
		"tvly-": "tavily"} {
		if strings.HasPrefix(key, beginning) {
			return name
		}
	}
	return ""
}

func (c *command) configSetKey() *cobra.Command {
	return &cobra.Command{Use: "set-key NAME", Short: "Store the key of a provider or search engine", Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.settingsWithoutStored()
			if err != nil {
				return err
			}
			name := args[0]
			if err := config.CheckName(name, cfg.KeyNames()); err != nil {
				return withCode(ExitUsage, err)
			}
			key, err := c.readKey(cmd.Context(), name)
			if err != nil {
				return err
			}
			place, err := keys.New(cfg.Keys).Set(cmd.Context(), name, key)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "the key of %s was stored in %s\n", name, placeInWords(place, cfg))
			if other := whoseKey(key.Reveal()); other != "" && other != name {
				fmt.Fprintf(c.Err, "· it looks like a key of %s, and will be sent to %s; ‘sibyl config delete-key %s’ "+
					"deletes it\n", other, name, name)
			}
			if from, by := cfg.KeyOrigin(name); from != "" {
				fmt.Fprintf(c.Err, "· but the one from the %s (%s) takes precedence\n", from, by)
			}
			return nil
		}}
}

func (c *command) configDeleteKey() *cobra.Command {
	return &cobra.Command{Use: "delete-key NAME", Short: "Delete the stored key of a provider or search engine",
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.settingsWithoutStored()
			if err != nil {
				return err
			}
			name, store := args[0], keys.New(cfg.Keys)
			where, err := store.Where()
			if _, stored := where[name]; !stored && err == nil {
				err = config.CheckName(name, cfg.KeyNames()) // only for names that aren't stored
				if err == nil {
					err = fmt.Errorf("%w for %s", keys.ErrNotStored, name)
				}
				return withCode(ExitUsage, err)
			}
			if err := store.Delete(cmd.Context(), name); err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "the stored key of %s was deleted\n", name)
			if from, by := cfg.KeyOrigin(name); from != "" {
				fmt.Fprintf(c.Err, "· but there is still one from the %s (%s)\n", from, by)
			}
			return nil
		}}
}

func placeInWords(p keys.Place, cfg config.Config) string {
	if p == keys.Keyring {
		return "the system keyring"
	}
	return cfg.Keys.File + ", encrypted"
}

// readKey reads a key, from a terminal without echo, and checks its form. Its errors contain nothing of the key.
func (c *command) readKey(ctx context.Context, name string) (config.Secret, error) {
	text, err := c.readHidden(ctx, "Key of "+name+" (it will not be shown): ")
	if err != nil {
		return config.Secret{}, err
	}
	text = config.WithoutQuotes(text) // some shells begin piped text with a byte order mark
	switch {
	case text == "":
		err = fmt.Errorf("no key was given: type it, or pipe it in, as in ‘pass show %s | sibyl config set-key %s’",
			name, name)
	case len(text) > longestKey:
		err = fmt.Errorf("the key is longer than %d bytes", longestKey)
	case strings.ContainsAny(text, "\r\n"):
		err = errors.New("there is more than one line: give only the key")
	case strings.ContainsAny(text, " \t"):
		err = errors.New("there is a space in the key: give only the key, without its name or ‘Bearer’")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		err = errors.New("the key contains an invalid character: copy it again")
	case len(text) < redact.MinSecret:
		err = fmt.Errorf("the key has only %d characters; below %d it can't be told from ordinary words, so it could "+
			"not be redacted", len(text), redact.MinSecret)
	}
	if err != nil {
		return config.Secret{}, withCode(ExitUsage, err)
	}
	return config.NewSecret(text), nil
}

// readHidden reads a line from the terminal without echo, or else standard input up to a limit. It restores the
// terminal, even if ctx is cancelled.
func (c *command) readHidden(ctx context.Context, prompt string) (string, error) {
	var text string
	var err error
	if c.InTTY {
		restore, failed := changeTyping(c.In, hideTyped)
		if failed != nil {
			return "", fmt.Errorf("the terminal can't hide what you type: %w: pipe the key in instead", failed)
		}
		fmt.Fprint(c.Err, prompt)
		text, err = c.readTyped(ctx)
		restore()
		fmt.Fprintln(c.Err)
	} else {
		text, err = waitWithin(ctx, func() (string, error) {
			all, err := io.ReadAll(io.LimitReader(c.In, longestKey*2))
			return string(all), err
		})
	}
	switch {
	case ctx.Err() != nil:
		return "", withCode(ExitStopped, context.Cause(ctx))
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("reading the key: %w", err)
	}
	return text, nil
}

// keyLine is one line of ‘sibyl config keys’: a key's name and origin, never the key.
type keyLine struct {
	Name string `json:"name"`
	From string `json:"from"`         // environment, command, keyring or file
	By   string `json:"by,omitempty"` // the variable, program or file
}

func (k keyLine) String() string {
	if k.By == "" {
		return fmt.Sprintf("%-12s %s", k.Name, k.From)
	}
	return fmt.Sprintf("%-12s %s (%s)", k.Name, k.From, k.By)
}

func (c *command) configKeys() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "keys",
		Short: "List which keys exist and where each comes from, without showing them",
		Args:  cobra.NoArgs,
		RunE: c.onSettings(func(_ context.Context, cfg config.Config, _ []string) error {
			where, err := keys.New(cfg.Keys).Where()
			if err != nil {
				c.code = ExitFailed // settings() has printed why
			}
			lines := keyLines(cfg, where)
			if len(lines) == 0 && !c.asJSON {
				fmt.Fprintln(c.Err, "· there are no keys; ‘sibyl config set-key NAME’ stores one for "+
					strings.Join(cfg.KeyNames(), ", "))
			}
			return printList(c, lines, keyLine.String)
		})}, "a JSON array")
}

// keyLines lists, by name, all keys that exist, including stored ones that no setting uses.
func keyLines(cfg config.Config, where map[string]keys.Place) []keyLine {
	names := append(cfg.KeyNames(), slices.Collect(maps.Keys(where))...)
	slices.Sort(names)
	lines := []keyLine{}
	for _, name := range slices.Compact(names) {
		from, by := cfg.KeyOrigin(name)
		place, stored := where[name]
		switch {
		case from == config.FromStore, from == "" && stored:
			if from = string(place); place == keys.File {
				by = cfg.Keys.File
			}
		case from == "":
			continue
		}
		lines = append(lines, keyLine{Name: name, From: from, By: by})
	}
	return lines
}
