package code

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// versionFolders are the folders of version control programs.
var versionFolders = []string{".git", ".hg", ".svn", ".jj", ".bzr", ".fossil", "_darcs", "CVS"}

// buildFiles are files that say how a project is built, and whose endings name no language.
var buildFiles = []string{"go.mod", "go.work", "package.json", "deno.json", "Cargo.toml", "pyproject.toml",
	"requirements.txt", "Pipfile", "pom.xml", "build.gradle",
	"build.gradle.kts", "settings.gradle", "Gemfile", "composer.json", "mix.exs", "CMakeLists.txt", "meson.build",
	"WORKSPACE", "MODULE.bazel", "BUILD.bazel",
	"Makefile", "GNUmakefile", "justfile", "Rakefile", "stack.yaml", "Package.swift", "pubspec.yaml", "flake.nix",
	"Dockerfile"}

// buildEndings are the endings of build files without a fixed name.
var buildEndings = []string{".sln", ".csproj", ".cabal", ".gemspec", ".xcodeproj"}

// maxEntries bounds how many entries of a folder are checked.
const maxEntries = 1000

// IsProject says whether a folder is a project: version control, a build file or source is directly in it. The home
// folder is none, whatever it holds, nor is a folder that can't be read.
func IsProject(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	entries, _ := f.ReadDir(maxEntries)
	return isProject(dir, entries)
}

func isProject(dir string, entries []os.DirEntry) bool {
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		name := e.Name()
		if slices.Contains(versionFolders, name) { // in a worktree, .git is a file
			return true
		}
		return !e.IsDir() && (slices.Contains(buildFiles, name) || slices.Contains(buildEndings, path.Ext(name)) ||
			isSource(name))
	}) {
		return false
	}
	home, err := os.UserHomeDir()
	return err != nil || filepath.Clean(dir) != filepath.Clean(home) && !sameFile(dir, home)
}

// inProject says whether one of the folders that contain a path, from the root on, is a project. parts are its
// components.
func (r *Root) inProject(parts []string) bool {
	dir := r.root.Name()
	for _, name := range parts {
		if IsProject(dir) {
			return true
		}
		dir = filepath.Join(dir, name)
	}
	return false
}

func isHidden(name string) bool { return len(name) > 1 && name[0] == '.' }

// isSource says whether a file is source code, by its ending. Settings are not.
func isSource(name string) bool {
	l := languages().byEnding[strings.ToLower(path.Ext(name))]
	return l != nil && l.defines && l.name != "TOML"
}
