package openai_test

import (
	"net/http"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

func over(client *http.Client) model.Model {
	return openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://house/v1", HTTPClient: client})
}

func FuzzStream(f *testing.F) {
	modeltest.FuzzStreams(f, over,
		delta("hi")+"\n\n"+stop+"\n\n"+done+"\n\n",
		delta("hi")+"\r\n: note\r\n"+done,
		calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"function":{"arguments":"}"}}`)+"\n"+stop,
		calls(`{"id":"a","function":{"name":"f","arguments":{"x":1}}},{"id":"a","function":{"name":"g"}}`)+"\n"+done,
		delta("half")+"\ndata: {\"error\":{\"message\":\"x\",\"code\":429}}\n",
		"{\"error\":\"x\"}",
		"data: {\"choices\":[{\"message\":{\"content\":\"hi\",\"refusal\":\"no\"}}],\"usage\":{}}\n",
	)
}
