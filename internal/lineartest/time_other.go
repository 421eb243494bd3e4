//go:build !linux

package lineartest

import (
	"testing"
	"time"
)

var began = time.Now()

// computed is how much time has passed, where nothing better is known.
func computed(testing.TB) time.Duration { return time.Since(began) }
