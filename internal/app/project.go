package app

import "sibyl/internal/tool/code"

// IsProject says whether a folder is one of code, so that code is likely where a person stands in it.
func IsProject(dir string) bool { return code.IsProject(dir) }
