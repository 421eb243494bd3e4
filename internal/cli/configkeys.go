package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/keys"
)

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
			if other := config.OwnerOfKey(key); other != "" && other != name {
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
	key, err := config.TypedKey(text)
	if errors.Is(err, config.ErrNoKey) {
		err = fmt.Errorf("%w: type it, or pipe it in, as in ‘pass show %s | sibyl config set-key %s’", err, name, name)
	}
	if err != nil {
		return config.Secret{}, withCode(ExitUsage, err)
	}
	return key, nil
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
			all, err := io.ReadAll(io.LimitReader(c.In, 2*config.LongestKey))
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

// keyLine is one line of ‘sibyl config keys’.
func keyLine(k app.Key) string {
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
			lines, err := app.KeysOf(cfg)
			if err != nil {
				c.code = ExitFailed // settings() has printed why
			}
			if len(lines) == 0 && !c.asJSON {
				fmt.Fprintln(c.Err, "· there are no keys; ‘sibyl config set-key NAME’ stores one for "+
					strings.Join(cfg.KeyNames(), ", "))
			}
			return printList(c, lines, keyLine)
		})}, "a JSON array")
}
