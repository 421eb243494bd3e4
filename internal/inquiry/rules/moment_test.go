package rules

import "testing"

func TestTimesAreReadAsPeopleSayThem(t *testing.T) {
	for _, c := range []struct {
		language, a, b string
		differ, known  bool
	}{
		{"en", "It closed at half past two.", "It was 2.30 pm.", false, true},
		{"en", "At a quarter to seven.", "The log has 18:45.", false, true},
		{"en", "It came on Thursday.", "That was the Friday night.", true, true},
		{"en", "They left on 3 May 2021.", "They left on 4 May.", true, true},
		{"en", "They left on 3 May 2021.", "They left on the 3rd.", false, true},
		{"en", "It was in 2021.", "It was on Friday.", false, false},
		{"en", "It stopped at noon.", "It stopped at 12:15.", true, true},
		{"en", "At twenty-five past six.", "It was 6.25 am.", false, true},
		{"en", "She came on the second of May.", "She came on 3 May.", true, true},
		{"de", "Um Mitternacht.", "Es war 0:00 Uhr.", false, true},
		{"de", "Um halb acht.", "Es war 19:30 Uhr.", false, true},
		{"de", "Kurz nach Viertel vor neun.", "Um 8.45 Uhr.", false, true},
		{"de", "Am Montagabend.", "Das war am Dienstag.", true, true},
		{"de", "Am fünften März.", "Am 5. März 2020.", false, true},
	} {
		l := languages()[c.language]
		a, b := l.moments(l.tokens(c.a)), l.moments(l.tokens(c.b))
		if len(a) != 1 || len(b) != 1 {
			t.Errorf("%q: %+v, %q: %+v", c.a, a, c.b, b)
			continue
		}
		if differ, known := a[0].differ(b[0]); differ != c.differ || known != c.known {
			t.Errorf("%q, %q: differ %v, comparable %v: %+v %+v", c.a, c.b, differ, known, a[0], b[0])
		}
	}
}
