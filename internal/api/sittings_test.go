package api_test

import (
	"strings"
	"testing"

	"sibyl/internal/api"
)

func TestSittingsAreToldWithTheirAnswersSideBySide(t *testing.T) {
	h := withCouncil(t).open()
	s := h.sitting(adasToken, offer)
	json := func(q question) question {
		q.header = map[string]string{"Accept": "application/json"}
		return q
	}
	h.get(json(answersOf(s.ID, map[string]any{"oracles": []string{"skeptic"}})), nil)
	h.get(json(answersOf(s.ID, map[string]any{"oracles": []string{"skeptic", "optimist"}})), nil)
	var all, older api.CouncilSittings
	h.get(question{path: councils + "/" + s.ID + "/sittings?limit=1", token: adasReader}, &all)
	h.get(question{path: councils + "/" + s.ID + "/sittings?limit=1&after=" + all.Next, token: adasReader}, &older)
	if len(all.Sittings) != 1 || len(older.Sittings) != 1 || all.Journal == "" {
		t.Fatalf("the sittings are %+v, then %+v", all, older)
	}
	both, one := all.Sittings[0], older.Sittings[0]
	if len(both.Answers) != 2 || both.Answers[0].Oracle.Name != "Skeptic" || !strings.Contains(both.Answers[1].HTML, "<") ||
		both.Answers[0].Run == both.Run.ID || both.Run.Session != all.Journal {
		t.Errorf("the sitting of two is %+v", both)
	}
	if len(one.Answers) != 1 || one.Answers[0].Run != one.Run.ID || one.Chair != nil || one.Answers[0].Sequence != 1 {
		t.Errorf("that of one is %+v", one)
	}
	h.refused("another's", question{path: councils + "/" + s.ID + "/sittings", token: evesToken}, 404, "not_found")
	h.refused("a bad place", question{path: councils + "/" + s.ID + "/sittings?after=x"}, 400, "invalid_request")
}

func TestSittingThatGoesOnIsToldByItsRunAlone(t *testing.T) {
	h := withCouncil(t).open()
	s := h.sitting(adasToken, offer)
	var none api.CouncilSittings
	a := h.get(question{path: councils + "/" + s.ID + "/sittings"}, &none)
	if !strings.Contains(string(a.body), `"sittings":[]`) || none.Journal == "" {
		t.Errorf("of a session in which nobody was asked: %s", a.body)
	}
	var begun api.Begun
	h.get(question{method: "POST", path: "/api/runs", body: map[string]any{"assistant": "council", "words": "ask", "options": map[string]any{"session": s.ID, "oracles": []string{"skeptic"}}}}, &begun)
	if begun.Session != none.Journal {
		t.Errorf("its runs are in the session %q, not in %q", begun.Session, none.Journal)
	}
}
