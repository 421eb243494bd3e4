package cli

import "testing"

func TestNumbersHaveAllTheirDigits(t *testing.T) {
	for f, want := range map[float64]string{1234567: "1234567", 12345678901: "12345678901", 0.5: "0.5", 0: "0"} {
		if got := figure(f); got != want {
			t.Errorf("%v is written %q", want, got)
		}
	}
}
