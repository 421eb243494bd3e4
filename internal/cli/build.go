package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Build returns the build that the journal records: version, if set, else the module version and commit, or "unknown".
func Build(version string) string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			name += "+" + s.Value[:12]
		}
	}
	return name
}

// versionCommand prints the version as --version does; its JSON adds the Go version and the platform.
func (c *command) versionCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "version", Short: "Print the version of Sibyl", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return c.printResult(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{c.Build, runtime.Version(), runtime.GOOS, runtime.GOARCH}, c.versionLine())
		}}, "one JSON object, with the platform and the Go version")
}

func (c *command) versionLine() string { return "sibyl " + c.Build }
