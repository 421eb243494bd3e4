package app

import "sibyl/internal/tool/code"

// IsProject says whether a folder is one of code, so that standing in it names it.
func IsProject(dir string) bool { return code.IsProject(dir) }
