package gemini

import (
	"net/http"
	"testing"
)

func TestLocalModelUsesNoProxy(t *testing.T) {
	for _, local := range []bool{true, false} {
		transport, ok := client(Config{Local: local}).Transport.(*http.Transport)
		if !ok || transport == http.DefaultTransport {
			t.Fatalf("local %v: the transport is not the model's own", local)
		}
		if got := transport.Proxy != nil; got == local {
			t.Errorf("local %v: proxy used: %v", local, got)
		}
	}
}

func TestClientOfTheCallerIsNotChanged(t *testing.T) {
	given := &http.Client{}
	New(Config{Provider: "google", Model: "m", HTTPClient: given})
	if given.CheckRedirect != nil {
		t.Error("New changed the client that it was given")
	}
}
