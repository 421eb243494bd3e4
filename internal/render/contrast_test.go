package render

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// luminance is how bright a colour is, from 0 to 1, as WCAG 2 defines it.
func luminance(red, green, blue int) float64 {
	linear := func(c int) float64 {
		if v := float64(c) / 255; v > 0.04045 {
			return math.Pow((v+0.055)/1.055, 2.4)
		}
		return float64(c) / 255 / 12.92
	}
	return 0.2126*linear(red) + 0.7152*linear(green) + 0.0722*linear(blue)
}

// TestColoursCanBeReadOnLightAndDarkTerminals holds the contrast of each colour that is used against the grounds that
// terminals have: nothing is asked of the terminal, so that one colour has to do for all.
func TestColoursCanBeReadOnLightAndDarkTerminals(t *testing.T) {
	// WCAG's for large text and for marks; 4.58 is the most that one colour can have against black and white
	const least = 3
	grounds := map[string]float64{"white": luminance(255, 255, 255), "Solarized's light": luminance(253, 246, 227),
		"black": luminance(0, 0, 0), "dark grey": luminance(30, 30, 30), "Solarized's dark": luminance(0, 43, 54)}
	level := func(n int) int { return []int{0, 95, 135, 175, 215, 255}[n%6] }
	for _, code := range codes {
		number, isColour := strings.CutPrefix(code, "38;5;")
		if !isColour {
			if n, err := strconv.Atoi(code); err != nil || n >= 10 {
				t.Errorf("%q is no look, and no colour of the palette whose value is known", code)
			}
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 16 || n > 231 {
			t.Fatalf("%q is not one of the cube, which themes leave as it is", code)
		}
		colour := luminance(level((n-16)/36), level((n-16)/6), level(n-16))
		for name, ground := range grounds {
			if contrast := (max(colour, ground) + 0.05) / (min(colour, ground) + 0.05); contrast < least {
				t.Errorf("%q has a contrast of %.1f on %s, want %d", code, contrast, name, least)
			}
		}
	}
}
