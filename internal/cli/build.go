package cli

import "runtime/debug"

// Build names the program in the journal: the version set by a release build, else the commit it was made of.
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
