package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/server/user"
)

func (c *command) userCommand() *cobra.Command {
	return group(&cobra.Command{Use: "user", Short: "Add, list and revoke users of the HTTP server"},
		c.userAdd(), c.userList(), c.userRevoke(), c.userRotate(), c.userSignIn())
}

// onUser runs a command with the user's name that is its first argument; the user need not exist.
func (c *command) onUser(do func(ctx context.Context, a *app.App, name string) error) runE {
	return c.onApp(func(ctx context.Context, a *app.App, args []string) error { return do(ctx, a, args[0]) })
}

func (c *command) userAdd() *cobra.Command {
	var scope, expires string
	cmd := &cobra.Command{Use: "add NAME", Short: "Add a user, and print a token for programs",
		Args: cobra.ExactArgs(1),
		RunE: c.onUser(func(ctx context.Context, a *app.App, name string) error {
			lasts, err := expiry(expires)
			if err != nil {
				return err
			}
			t, secret, err := a.Users.Add(ctx, name, user.Scope(scope), lasts)
			if err != nil {
				return err
			}
			if name == string(app.Owner) {
				fmt.Fprintln(c.Err, "· "+name+" owns the sessions of the command line: this user has access to them")
			}
			return c.printSecret(t, secret, "programs send it as ‘Authorization: Bearer TOKEN’")
		})}
	cmd.Flags().StringVar(&scope, "scope", string(user.Write),
		"what the user's tokens allow: read; write, which includes read; or operate, which includes both and shows "+
			"how the server works for all")
	withExpiry(cmd, &expires)
	return c.withJSON(cmd, "one JSON object, with the token as ‘secret’")
}

func withExpiry(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "expires", "90d", "how long the token works, such as 90d or 12h")
}

func expiry(text string) (time.Duration, error) {
	lasts, err := config.Age(text)
	if err != nil {
		return 0, withCode(ExitUsage, fmt.Errorf("--expires is %q; use days such as 90d, or a time such as 12h", text))
	}
	return lasts, nil
}

// printSecret prints the secret of a token on stdout, or as JSON with the token, and on stderr what it is for.
func (c *command) printSecret(t user.Token, secret, use string) error {
	fmt.Fprintf(c.Err, "· a token of %s (%s) until %s; %s\n", t.User, t.Scope, moment(t.ExpiresAt), use)
	fmt.Fprintln(c.Err, "· it will not be shown again: only its hash is stored")
	return c.printResult(struct {
		user.Token
		Secret string `json:"secret"`
	}{t, secret}, secret)
}

func (c *command) userList() *cobra.Command {
	return listCommand(c, &cobra.Command{Short: "List the users and their valid tokens"}, 0,
		"there are no users; ‘sibyl user add NAME’ adds one", userLines,
		func(ctx context.Context, a *app.App) ([]user.Listed, error) {
			all, err := a.Users.List(ctx)
			if c.limit > 0 {
				all = all[:min(c.limit, len(all))]
			}
			return all, err
		})
}

// userLines shows a user in a list: whether revoked, or the scope and a line for each token.
func userLines(u user.Listed) string {
	if !u.RevokedAt.IsZero() {
		return fmt.Sprintf("%s  revoked  since %s", u.Name, moment(u.RevokedAt))
	}
	lines := fmt.Sprintf("%s  %s  since %s", u.Name, u.Scope, moment(u.CreatedAt))
	for _, t := range u.Tokens {
		lines += fmt.Sprintf("\n  %-7s  %s  %s  until %s", t.Kind, t.ID, t.Scope, moment(t.ExpiresAt))
	}
	if len(u.Tokens) == 0 {
		lines += fmt.Sprintf("\n  no valid token; ‘sibyl user rotate %s’ creates one", u.Name)
	}
	return lines
}

func (c *command) userRevoke() *cobra.Command {
	return &cobra.Command{Use: "revoke NAME", Short: "Revoke a user and all their tokens at once",
		Args: cobra.ExactArgs(1),
		RunE: c.onUser(func(ctx context.Context, a *app.App, name string) error {
			if err := a.Users.Revoke(ctx, name); err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "%s was revoked with all tokens; the sessions stay\n", name)
			return nil
		})}
}

func (c *command) userRotate() *cobra.Command {
	var expires string
	cmd := &cobra.Command{Use: "rotate NAME",
		Short: "Print a new token for programs; the old ones stop working at once", Args: cobra.ExactArgs(1),
		RunE: c.onUser(func(ctx context.Context, a *app.App, name string) error {
			lasts, err := expiry(expires)
			if err != nil {
				return err
			}
			t, secret, err := a.Users.Rotate(ctx, name, lasts)
			if err != nil {
				return err
			}
			return c.printSecret(t, secret, "earlier tokens for programs no longer work")
		})}
	withExpiry(cmd, &expires)
	return c.withJSON(cmd, "one JSON object, with the token as ‘secret’")
}

func (c *command) userSignIn() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "sign-in NAME", Short: "Print a token that signs a browser in, once",
		Args: cobra.ExactArgs(1),
		RunE: c.onUser(func(ctx context.Context, a *app.App, name string) error {
			t, secret, err := a.Users.Invite(ctx, name)
			if err != nil {
				return err
			}
			if err := c.printSecret(t, secret, "it signs in one browser, once"); err != nil || c.asJSON {
				return err
			}
			address, here, err := a.SignInAddress(ctx, secret)
			switch {
			case here:
				fmt.Fprintln(c.Err, "· on this machine, open "+address)
			case address != "":
				fmt.Fprintln(c.Err, "· open "+address)
			}
			return err
		})}, "one JSON object, with the token as ‘secret’")
}
