package app

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

func TestKeyForAllOfGoogleIsNoWishForGemini(t *testing.T) {
	for environ, automatic := range map[string]bool{"GOOGLE_API_KEY=key-0123456789": false,
		"GEMINI_API_KEY=key-0123456789": true} {
		cfg := assert.Must(config.Load(config.Options{Home: t.TempDir(), Environ: []string{environ}}))(t)
		for _, p := range catalog(cfg, newSecrets(cfg)) {
			assert.That(t, p.Name != "gemini" || (p.Automatic == automatic && p.Missing == ""),
				"%s: taken by itself %v, missing %q", environ, p.Automatic, p.Missing)
		}
	}
}

// A person who asks from elsewhere may name any model of a provider.
func TestModelsThatAreNamedOneAfterTheOtherHoldNeitherConnectionsNorMemory(t *testing.T) {
	var connected atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connected.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	a := prepared(t, "providers: {work: {base_url: '"+server.URL+"/v1', api: chat}}")
	req := model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
	for i := range 3 * mostModels {
		id := fmt.Sprint("work:m", i)
		a.Describe(t.Context(), id)
		m := assert.Must(a.openModel(a.Models, id))(t)
		assert.Must(m.Chat(t.Context(), req, nil))(t)
	}
	// a few at most: one that is not free again in time makes way for another
	n := connected.Load()
	assert.That(t, n <= mostModels, "%d models were asked over %d connections", 3*mostModels, n)
}

func TestWebThatIsOffHasNoTool(t *testing.T) {
	for name, c := range map[string]struct{ setting, run, has bool }{
		"as usual": {false, false, true}, "by the setting": {true, false, false}, "for one run": {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Config.Web.Off = c.setting
			set, closeTools, err := b.Tools(t.Context(), oracle.Env{NoWeb: c.run})
			assert.NoError(t, err)
			defer closeTools()
			has := slices.ContainsFunc(set.Specs(), func(s tool.Spec) bool { return s.Source == tool.Web })
			assert.That(t, has == c.has, "a tool of the web is there: %v", has)
		})
	}
}
