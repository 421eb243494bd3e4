package model

import (
	"strconv"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

func TestModelsThatAreLeftAloneNoMoreAreForgotten(t *testing.T) {
	c, now := NewCooling(), time.Unix(0, 0)
	for i := range 100 {
		c.add(strconv.Itoa(i), Server, now, now.Add(time.Minute))
		now = now.Add(30 * time.Second)
	}
	assert.That(t, len(c.models) <= 2, "%d models are remembered, of which 2 are left alone", len(c.models))
}
