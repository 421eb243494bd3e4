//go:build !race

package web

const underRaceDetector = false
