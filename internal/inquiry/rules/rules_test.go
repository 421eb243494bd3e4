package rules

import "testing"

func TestATextIsEnglishOrGerman(t *testing.T) {
	for text, want := range map[string]string{
		"When was the bridge on Mill Road closed?":          "en",
		"Wann wurde die Brücke an der Mühlstraße gesperrt?": "de",
		"": "en",
	} {
		if got := Language(text); got != want {
			t.Errorf("Language(%q) = %q, want %q", text, got, want)
		}
	}
}
