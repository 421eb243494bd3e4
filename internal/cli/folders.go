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
