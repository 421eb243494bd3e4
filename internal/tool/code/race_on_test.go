//go:build race

package code

const raceDetector = true
