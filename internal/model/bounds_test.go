package model_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestTurnHasAQuarterOfAWindowWithinItsBounds(t *testing.T) {
	for window, want := range map[int]int{0: 16384, 2000: 4096, 8192: 4096, 32000: 8000, 128000: 16384} {
		assert.Equal(t, model.BoundIn(window), want)
	}
}
