package cli

import (
	"os"

	"sibyl/internal/app"
)

// projectHere is the folder that the person stands in, if it holds a project: only then it is searched unless it is
// named. A home folder is none.
func projectHere() string {
	here, err := os.Getwd()
	if err != nil || !app.IsProject(here) {
		return ""
	}
	return here
}

// noteUnsearchedFolders tells that no code is searched, and how it would be.
func (c *command) noteUnsearchedFolders(codeRoot string) {
	if codeRoot == "" && !c.asJSON {
		c.note("this folder holds no project and is not searched; ‘--in .’ searches it")
	}
}
