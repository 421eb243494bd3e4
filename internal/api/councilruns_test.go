package api_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
)

// answersOf asks oracles about a session, and wants the answer whole.
func answersOf(id string, body map[string]any) question {
	return question{method: "POST", path: councils + "/" + id + "/answers", body: body, header: map[string]string{"Accept": "application/json"}}
}

func outcomeOf(t *testing.T, r api.RunWithResult) council.Outcome {
	t.Helper()
	if r.Result == nil {
		t.Fatalf("run %s has no result: %+v", r.ID, r.Run)
	}
	o := council.Outcome{}
	if err := json.Unmarshal(r.Result.Outcome, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOracleAnswersWholeAndItsAnswerIsKept(t *testing.T) {
	h := withCouncil(t).open()
	s := h.sitting("", offer)
	var r api.RunWithResult
	a := h.get(answersOf(s.ID, map[string]any{"oracles": []string{"skeptic"}}), &r)
	o := outcomeOf(t, r)
	if a.status != 200 || a.header.Get("Location") != "/api/runs/"+r.ID || r.Status != journal.Done || o.Answer == nil || o.Answer.Text == "" || o.Session != s.ID {
		t.Fatalf("%d %+v %+v", a.status, r, o)
	}
	var kept api.CouncilResponse
	h.get(question{path: councils + "/" + s.ID + "/responses/1", token: adasReader}, &kept)
	if kept.Text != o.Answer.Text || kept.Answer.Run != r.ID || kept.Answer.File != o.Answer.File || kept.Answer.Context.Transcripts != 1 {
		t.Errorf("%+v", kept)
	}
	if h.get(question{path: councils + "/" + s.ID}, &s); s.State != session.Ready || len(s.Answers) != 1 {
		t.Errorf("%+v", s)
	}
}

func TestPreviewHasThePromptsAndAsksNobody(t *testing.T) {
	h := withCouncil(t).open()
	s := h.sitting("", offer)
	var p api.CouncilPrompts
	h.get(question{method: "POST", path: councils + "/" + s.ID + "/preview", body: map[string]any{"oracles": []string{"skeptic", "optimist"}, "history": false}}, &p)
	if len(p.Prompts) != 2 || !strings.Contains(p.Prompts[1].Prompt, offer) || p.Prompts[0].Snapshot.IncludeHistory || p.Prompts[0].Model != "test:voice" {
		t.Errorf("%+v", p)
	}
	var runs api.Runs
	if h.get(question{path: "/api/runs"}, &runs); len(runs.Runs) != 0 {
		t.Errorf("%+v", runs)
	}
}

func TestQuestionToOraclesThatCannotBeAnsweredIsRefused(t *testing.T) {
	h := withCouncil(t).open()
	s, silent := h.sitting("", offer), h.sitting("")
	h.refuses(refusals{
		"nobody":                  {answersOf(s.ID, map[string]any{"oracles": []string{}}), 400, "invalid_request"},
		"no list":                 {answersOf(s.ID, map[string]any{}), 400, "invalid_request"},
		"an unknown oracle":       {answersOf(s.ID, map[string]any{"oracles": []string{"hunter2"}}), 404, "no_oracle"},
		"an oracle of no name":    {answersOf(s.ID, map[string]any{"oracles": []string{""}}), 404, "no_oracle"},
		"a name of several":       {answersOf(s.ID, map[string]any{"oracles": []string{"p"}}), 400, "no_oracle"},
		"an oracle twice":         {answersOf(s.ID, map[string]any{"oracles": []string{"skeptic", "Skeptic"}}), 400, "invalid_request"},
		"an unknown chair":        {answersOf(s.ID, map[string]any{"oracles": []string{"skeptic", "optimist"}, "chair": "hunter2"}), 404, "no_oracle"},
		"thirteen":                {answersOf(s.ID, map[string]any{"oracles": strings.Split("a b c d e f g h i j k l m", " ")}), 400, "invalid_request"},
		"rounds":                  {answersOf(s.ID, map[string]any{"oracles": []string{"skeptic", "optimist"}, "rounds": 2}), 400, "invalid_request"},
		"a chair of one":          {answersOf(s.ID, map[string]any{"oracles": []string{"skeptic"}, "chair": "optimist"}), 400, "invalid_request"},
		"no model":                {answersOf(s.ID, map[string]any{"oracles": []string{"skeptic"}, "model": model.OfflineRules}), 400, "invalid_request"},
		"an unknown model":        {answersOf(s.ID, map[string]any{"oracles": []string{"skeptic"}, "model": "hunter2"}), 400, "invalid_request"},
		"another session":         {answersOf(s.ID, map[string]any{"oracles": []string{"skeptic"}, "session": "hunter2"}), 400, "invalid_request"},
		"a session without words": {answersOf(silent.ID, map[string]any{"oracles": []string{"skeptic"}}), 400, "invalid_request"},
		"a name by rules":         {question{method: "POST", path: councils + "/" + s.ID + "/name", body: map[string]any{"model": model.OfflineRules}}, 400, "invalid_request"},
		"no transcriber":          {question{method: "POST", path: councils + "/" + s.ID + "/transcription", body: map[string]any{}}, 409, "no_transcriber"},
		"a transcription of what": {question{method: "POST", path: councils + "/" + s.ID + "/transcription", body: map[string]any{"again": 7}}, 400, "invalid_request"},
	}, "hunter2", "/etc")
	var runs api.Runs
	if h.get(question{path: "/api/runs"}, &runs); len(runs.Runs) != 0 {
		t.Errorf("%+v", runs)
	}
}

func TestModelNamesASessionThatNoPersonHasNamed(t *testing.T) {
	h := withCouncil(t).open()
	s := h.sitting("", offer)
	at := councils + "/" + s.ID
	naming := question{method: "POST", path: at + "/name", body: map[string]any{"model": "test:voice"}, header: map[string]string{"Accept": "application/json"}}
	var r api.RunWithResult
	if h.get(naming, &r); r.Status != journal.Done {
		t.Fatalf("%+v", r)
	}
	if h.get(question{path: at}, &s); s.Name != "The new office" || s.NamedBy != "test:voice" {
		t.Errorf("%+v", s)
	}
	h.get(question{method: "PATCH", path: at, body: map[string]any{"name": "Mine"}}, nil)
	h.refused("what a person has named", naming, 400, "invalid_request")
}

func TestRecordingIsWrittenDownInTheBackground(t *testing.T) {
	h := withCouncil(t)
	entered, release := make(chan string, 4), make(chan struct{})
	h.transcribe = func(ctx context.Context, file string) (string, error) {
		entered <- filepath.Base(file)
		select {
		case <-release:
			return "words of " + filepath.Base(file), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	h.open()
	s := h.sitting("")
	at := councils + "/" + s.ID
	var first, second api.CouncilAdded
	a := h.get(upload(s.ID, "", "audio/ogg", "OggS one"), &first)
	if a.status != 201 || first.Transcription == nil || a.header.Get("Location") != "/api/runs/"+first.Transcription.Run || first.Waits != "" {
		t.Fatalf("%d %v %+v", a.status, a.header, first)
	}
	same(t, "first", <-entered, "001_audio.ogg")
	if h.get(upload(s.ID, "", "audio/ogg", "OggS two"), &second); second.Transcription == nil || second.Transcription.Run != first.Transcription.Run {
		t.Errorf("the run that goes on takes it in, too: %+v", second)
	}
	var begun api.Begun
	again := question{method: "POST", path: at + "/transcription", body: map[string]any{}}
	if a := h.get(again, &begun); a.status != 202 || begun.Run != first.Transcription.Run {
		t.Errorf("asked for: %d %+v", a.status, begun)
	}
	again.body = map[string]any{"again": true}
	h.refused("asked for anew, while it goes on", again, 409, "claimed")
	close(release)
	if r := h.ended("", first.Transcription.Run); r.Status != journal.Done || r.State != "transcribed" {
		t.Errorf("%+v", r)
	}
	for seq, want := range map[string]string{"1": "words of 001_audio.ogg", "2": "words of 002_audio.ogg"} {
		var said api.CouncilTranscript
		if h.get(question{path: at + "/entries/" + seq + "/transcript"}, &said); said.Text != want {
			t.Errorf("%s: %+v", seq, said)
		}
		same(t, "when it is said", said.Spoken, []session.Spoken{{Text: want, Seconds: 1.5}})
	}
	if h.get(question{path: at}, &s); s.State != session.Transcribed {
		t.Errorf("%+v", s)
	}
}

func TestRecordingIsAddedAlsoWhereItsUserHasNoRoomForARun(t *testing.T) {
	h := withCouncil(t)
	h.transcribe = func(context.Context, string) (string, error) { return "words", nil }
	h.config.Limits.Runs = 1
	h.open()
	s := h.sitting("")
	defer h.holds("bob")()
	h.begin("", "Tea?")
	var added api.CouncilAdded
	if a := h.get(upload(s.ID, "", "audio/ogg", "OggS"), &added); a.status != 201 || added.Transcription != nil || added.Waits == "" || added.Entry.Status != session.Pending {
		t.Errorf("%d %+v", a.status, added)
	}
}
