package cli

import (
	"os"

	"sibyl/internal/app"
)

// projectHere is the working directory if it holds a project, which the home folder never does; "" otherwise. Only then
// it is searched without being named.
func projectHere() string {
	here, err := os.Getwd()
	if err != nil || !app.IsProject(here) {
		return ""
	}
	return here
}

// noteUnsearchedFolders prints, if there is no folder of code, that none is searched, and how to search this one.
func (c *command) noteUnsearchedFolders(codeRoot string) {
	if codeRoot == "" && !c.asJSON {
		c.note("this folder holds no project and is not searched; ‘--in .’ searches it")
	}
}
