package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
	"sibyl/internal/user"
)

// argumentLookups are the lookups of arguments, by the path of their command below sibyl.
func argumentLookups() map[string]lookup {
	oneRun, oneSession, goesOn := runIDs(journal.Filter{}), firstAlone(sessionIDs("")), runIDs(journal.Filter{Status: journal.Running})
	pending, anyTask := firstAlone(taskIDs(task.Filter{Status: task.Pending})), firstAlone(taskIDs(task.Filter{}))
	inquiry, sitting, user := firstAlone(inquiryIDs), firstAlone(sittingIDs), firstAlone(userNames)
	return map[string]lookup{
		"ask": mentions, "explain": oneRun, "replay": oneRun, "shadow report": oneRun,
		"run resume": goesOn, "run cancel": goesOn, "run watch": oneRun, "undo": firstAlone(writeIDs),
		"session show": oneSession, "session audit": oneSession, "session export": oneSession, "session rename": oneSession, "session delete": oneSession,
		"council ask": oracleNames, "council oracle show": firstAlone(oracleNames), "council show": sitting, "council export": sitting, "council rename": sitting,
		"council delete": sitting, "council repair": sittingIDs, "council transcribe": sitting,
		"inquiry show": inquiry, "inquiry stop": inquiry, "inquiry export": inquiry,
		"tree show": firstAlone(treeNames), "tree models": firstAlone(assistants),
		"task done": pending, "task edit": anyTask, "task rm": anyTask, "task history": anyTask,
		"user revoke": user, "user rotate": user, "user sign-in": user,
		"config set": settingNames, "config set-key": firstAlone(keyNames), "config delete-key": firstAlone(keyNames), "config test": tested, "mcp trust": firstAlone(mcpNames),
	}
}

// flagLookups are the lookups of flags by their names, before which the path of their command may stand.
func flagLookups() map[string]lookup {
	return map[string]lookup{
		"model": modelNames, "detective": modelNames, "witness": witnesses, "chair": oracleNames, "conversation": sessionIDs(taskchat.Name, newConversation), "user": userNames,
		"sources --run": runIDs(journal.Filter{Assistant: oracle.Name}), "ask --session": sessionIDs(oracle.Name), "session": sittingIDs,
		"session export --format": oneWordOf("md", "json", "jsonl"), "format": oneWordOf("md", "json"), "status": oneWordOf(string(task.Pending), string(task.Completed)),
		"scope": oneWordOf(scopes()...), "language": oneWordOf("en", "de", "pt"), "investigate --language": oneWordOf("en", "de"),
	}
}

// folderFlags are the flags that take a folder.
var folderFlags = []string{"in", "vault", "data", "documents", "prompts"}

// oneWordOf offers a few words.
func oneWordOf(all ...string) lookup {
	return func(context.Context, *values, []string, string) ([]offered, error) { return offeredWords(all...), nil }
}

func scopes() (all []string) {
	for _, s := range user.Scopes() {
		all = append(all, string(s))
	}
	return all
}

// filesTaken are the words of a usage that stand for files, for which the shell knows what there is.
var filesTaken = []string{"FILE", "FOLDER"}

// completes says that a command line is the shell's, which asks what may stand where somebody types.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completed has the arguments and flags of a command, and of all below it, completed in the shell.
func (c *command) completed(cmd *cobra.Command, path string, args, flags map[string]lookup) {
	switch find := args[path]; {
	case find != nil:
		cmd.ValidArgsFunction = c.completing(find)
	case !slices.ContainsFunc(filesTaken, func(word string) bool { return strings.Contains(cmd.Use, word) }):
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		find := flags[path+" --"+f.Name]
		if find == nil {
			find = flags[f.Name]
		}
		switch {
		case slices.Contains(folderFlags, f.Name):
			_ = cmd.MarkFlagDirname(f.Name) // the flag is there
		case find != nil:
			_ = cmd.RegisterFlagCompletionFunc(f.Name, c.completing(find)) // it is there, and has none yet
		}
	})
	for _, sub := range cmd.Commands() {
		c.completed(sub, strings.TrimPrefix(path+" "+sub.Name(), " "), args, flags)
	}
}
