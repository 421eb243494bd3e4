package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/text"
)

// rewordErrors says in our words what cobra says of arguments and flags, for a command and all below it.
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

// alike are verbs that people use for the same: where one of them names a command, it is suggested for the others.
var alike = [...]string{
	"list ls all", "show view cat get", "new add create begin start", "edit set change update", "rename mv title",
	"delete rm remove del erase", "cancel stop abort kill end", "resume continue", "done complete finish close",
	"check verify validate test lint", "export save download", "undo revert", "watch follow tail", "find search grep",
}

// isArgumentCount says that an error is one of those that cobra has for a wrong number of arguments.
func isArgumentCount(err error) bool {
	return slices.ContainsFunc([]string{"accepts ", "requires at least ", "unknown command "}, func(start string) bool {
		return strings.HasPrefix(err.Error(), start)
	})
}

// usageOf is how a command is called, without its flags.
func usageOf(cmd *cobra.Command) string { return strings.TrimSuffix(cmd.UseLine(), " [flags]") }

func helpHint(cmd *cobra.Command) string {
	return fmt.Sprintf("; see ‘%s --help’", cmd.CommandPath())
}

// rewordFlagError is an error of a flag, with where to look.
func rewordFlagError(cmd *cobra.Command, err error) error {
	return withCode(ExitUsage, fmt.Errorf("%w%s", err, helpHint(cmd)))
}

// failure is what --json has where a command fails and no outcome says it: the exit code, what was wrong, and what
// would mend it.
type failure struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	} `json:"error"`
}

// report writes an error for people, and under --json, where nothing else was written, for programs.
func (c *command) report(err error, code int, hint string) int {
	fmt.Fprintln(c.Err, "sibyl:", printable(err.Error()))
	if hint != "" {
		fmt.Fprintln(c.Err, "      "+hint)
	}
	if c.wantsJSON && !c.out.wrote {
		var p failure
		p.Error.Code, p.Error.Message, p.Error.Hint = code, err.Error(), hint
		_ = newJSON(c.Out).Encode(p) // what can't be written is told by the exit code
	}
	return code
}

// asksJSON says that a command line wants JSON, even one that can't be understood.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
