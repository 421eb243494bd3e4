package api_test

import (
	"net/http"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/service"
)

func TestQuestionTakesThePlaceOfTheLastOneOverHTTP(t *testing.T) {
	h := newHouse(t)
	h.panel = h.describe("panel")
	h.panel.Retakes = true
	h.open()
	first := h.begin(adasToken, "Tea?")
	same(t, "whether it can be replaced", h.ended(adasToken, first.Run).Retakable, true)
	replacing := func(token, run string) question {
		return question{method: http.MethodPost, path: "/api/runs", token: token,
			body: map[string]any{"assistant": "panel", "words": "Milk?", "replaces": run, "options": map[string]any{"personas": []string{"ada"}}}}
	}
	h.refused("replacing another person's run", replacing(evesToken, first.Run), http.StatusNotFound, "not_found")
	var again api.Begun
	h.get(replacing(adasToken, first.Run), &again)
	same(t, "session", again.Session, first.Session)
	same(t, "what it replaces", h.ended(adasToken, again.Run).Replaces, first.Run)
	h.refused("replacing one that is not the last", replacing(adasToken, first.Run), http.StatusConflict, "not_last")
}

func TestDeclineAndModelsAreAnswered(t *testing.T) {
	h := newHouse(t).open()
	run := h.begin(adasToken, "Tea?").Run
	h.ended(adasToken, run)
	decline := question{method: http.MethodPost, path: "/api/runs/" + run + "/decline"}
	var told api.RunWithResult
	h.get(decline, &told)
	same(t, "the run", told.ID, run)
	decline.token = evesToken
	h.refused("declining for another person", decline, http.StatusNotFound, "not_found")
	var models service.Models
	h.get(question{path: "/api/models"}, &models)
	same(t, "providers of a server without models", len(models.Providers), 0)
}
