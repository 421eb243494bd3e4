package app

import "sibyl/internal/tool/code"

// IsProject reports whether a folder contains code, so that a person working in it likely asks about code.
func IsProject(dir string) bool { return code.IsProject(dir) }
