package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/text"
)

// rewordErrors rewords cobra's errors about arguments, and adds suggestions of verbs, for a command and all below it.
func rewordErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil || !isArgumentCount(err) {
				return err
			}
			return fmt.Errorf("%s given: call it as ‘%s’%s", text.Count(len(args), "argument"), usageOf(cmd), helpHint(cmd))
		}
	}
	for _, verbs := range alike {
		if all := strings.Fields(verbs); slices.Contains(all, cmd.Name()) {
			cmd.SuggestFor = all
		}
	}
	for _, sub := range cmd.Commands() {
		rewordErrors(sub)
	}
}

// alike lists verbs that mean the same: a command that one of them names is suggested for the others.
var alike = [...]string{
	"list ls all", "show view cat get", "new add create begin start", "edit set change update", "rename mv title",
	"delete rm remove del erase", "cancel stop abort kill end", "resume continue", "done complete finish close",
	"check verify validate test lint", "export save download", "undo revert", "watch follow tail", "find search grep",
}

// isArgumentCount says whether an error is one of cobra's for a wrong number of arguments.
func isArgumentCount(err error) bool {
	return slices.ContainsFunc([]string{"accepts ", "requires at least ", "unknown command "}, func(start string) bool {
		return strings.HasPrefix(err.Error(), start)
	})
}

// usageOf is the usage line of a command without its flags.
func usageOf(cmd *cobra.Command) string { return strings.TrimSuffix(cmd.UseLine(), " [flags]") }

func helpHint(cmd *cobra.Command) string {
	return fmt.Sprintf("; see ‘%s --help’", cmd.CommandPath())
}

// rewordFlagError adds a reference to the help to an error about a flag.
func rewordFlagError(cmd *cobra.Command, err error) error {
	return withCode(ExitUsage, fmt.Errorf("%w%s", err, helpHint(cmd)))
}

// rewordMisplacedFlag is rewordFlagError for a command line. Where it has no command, and ask takes the flag, what is
// wrong is what ask would say of it, or else that its words are no command.
func rewordMisplacedFlag(cmd *cobra.Command, err error, args []string) error {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	ask, _, found := new(command).root().Find([]string{"ask"}) // of another root: its flags are parsed again
	if !is || cmd.Parent() != nil || found != nil {
		return rewordFlagError(cmd, err)
	}
	if name := unknown.GetSpecifiedName(); ask.Flags().Lookup(name) == nil &&
		(len(name) != 1 || ask.Flags().ShorthandLookup(name) == nil) {
		return rewordFlagError(cmd, err)
	}
	if err := ask.ParseFlags(args); err != nil {
		return rewordFlagError(ask, err)
	}
	return groupRun(cmd, ask.Flags().Args())
}

// failure is what --json prints if a command fails without an outcome: the exit code, the error and how to fix it.
type failure struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	} `json:"error"`
}

// report prints an error on stderr, and with --json, if nothing was printed yet, on stdout; it returns code.
func (c *command) report(err error, code int, hint string) int {
	fmt.Fprintln(c.Err, "sibyl:", printable(err.Error()))
	if hint != "" {
		fmt.Fprintln(c.Err, "      "+hint)
	}
	if c.wantsJSON && !c.out.wrote {
		var p failure
		p.Error.Code, p.Error.Message, p.Error.Hint = code, c.repeatFlags(err.Error()), c.repeatFlags(hint)
		_ = newJSON(c.Out).Encode(p) // if it can't be written, the exit code remains
	}
	return code
}

// asksJSON says whether a command line asks for JSON, even one that can't be parsed.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
