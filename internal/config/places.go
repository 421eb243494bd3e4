package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// places knows where things lie: the environment and the folders it names.
type places struct {
	variables map[string]string
	home      string // "" if unknown
}

func newPlaces(environ []string, home string) places {
	p := places{variables: map[string]string{}, home: home}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			p.variables[name] = value
		}
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if p.home == "" {
			p.home = p.get(name)
		}
	}
	return p
}

// get returns a variable; "" if it is not set.
func (p places) get(name string) string { return p.variables[name] }

// configDir returns the folder for configuration, or "" where that cannot be told.
func (p places) configDir() string {
	var folder string
	switch {
	case filepath.IsAbs(p.get("XDG_CONFIG_HOME")):
		folder = p.get("XDG_CONFIG_HOME")
	case runtime.GOOS == "windows" && p.get("APPDATA") != "":
		folder = p.get("APPDATA")
	case p.home == "":
		return ""
	case runtime.GOOS == "darwin":
		folder = filepath.Join(p.home, "Library", "Application Support")
	default:
		folder = filepath.Join(p.home, ".config")
	}
	return filepath.Join(folder, "sibyl")
}

// dataDir returns the folder for data after the XDG base directory specification, which counts a relative path as
// none.
func (p places) dataDir() (string, error) {
	if xdg := p.get("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "sibyl"), nil
	}
	if p.home == "" {
		return "", errors.New("the data folder is unknown because HOME is not set: set SIBYL_DATA or HOME")
	}
	return filepath.Join(p.home, ".local", "share", "sibyl"), nil
}

// cacheDir returns the folder for what can be made anew, or "" where that cannot be told.
func (p places) cacheDir() string {
	var folder string
	switch {
	case filepath.IsAbs(p.get("XDG_CACHE_HOME")):
		folder = p.get("XDG_CACHE_HOME")
	case runtime.GOOS == "windows" && p.get("LOCALAPPDATA") != "":
		folder = p.get("LOCALAPPDATA")
	case p.home == "":
		return ""
	case runtime.GOOS == "darwin":
		folder = filepath.Join(p.home, "Library", "Caches")
	default:
		folder = filepath.Join(p.home, ".cache")
	}
	return filepath.Join(folder, "sibyl", "index")
}

// absolute makes a path absolute: ~ is the home folder, a relative path starts from base.
func (p places) absolute(path, base string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("holds a NUL character")
	}
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~`+string(os.PathSeparator)) {
		if p.home == "" {
			return "", errors.New("begins with ~, but the home folder is unknown: set HOME")
		}
		return filepath.Join(p.home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Abs(filepath.Join(base, path))
}
