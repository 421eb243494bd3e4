//go:build race

package web

// The race detector makes pools drop things at random, so that what is allocated says nothing.
const underRaceDetector = true
