//go:build !linux

package files

// room refuses nothing: this system does not tell how much memory a process may use.
func room(string, int64) error { return nil }
