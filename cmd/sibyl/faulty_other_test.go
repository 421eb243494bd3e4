//go:build !linux || !amd64

package main

// watchers are programs that watch others: there are none for this system.
func watchers() map[string]func() { return nil }
