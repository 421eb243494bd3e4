package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// bashAlone defines the functions of the package bash-completion that cobra's script calls, if they are missing:
// otherwise each Tab would print an error.
const bashAlone = `# What is used of the package bash-completion, where it is not there.
if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    _get_comp_words_by_ref()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur=${words[cword]}
        prev=${words[cword - 1]}
    }
fi
if ! declare -F _filedir >/dev/null 2>&1; then
    _filedir()
    {
        local kind=-f IFS=$'\n'
        [[ ${1-} == -d ]] && kind=-d
        compopt -o filenames 2>/dev/null
        COMPREPLY+=($(compgen "$kind" -- "${cur-}"))
    }
fi

`

// withCompletion adds the command that prints shell completion scripts, with bashAlone in the one for bash.
func withCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || cmd.Name() != "bash" {
		return // leave cobra's commands as they are
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		none, _ := cmd.Flags().GetBool("no-descriptions") // false if the flag doesn't exist
		w := cmd.OutOrStdout()
		if _, err := io.WriteString(w, bashAlone); err != nil {
			return err
		}
		return root.GenBashCompletionV2(w, !none)
	}
}
