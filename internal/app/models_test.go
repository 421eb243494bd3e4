package app

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

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
