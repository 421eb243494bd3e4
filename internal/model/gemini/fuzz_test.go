package gemini_test

import (
	"net/http"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/modeltest"
)

func over(client *http.Client) model.Model {
	return gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: "http://house/v1beta", HTTPClient: client})
}

func FuzzStream(f *testing.F) {
	modeltest.FuzzStreams(f, over,
		text("hi")+"\r\n\r\n"+stop+"\r\n\r\n",
		text("hi")+"\n: note\n"+stop,
		parts(`{"functionCall": {"name": "f","args": {"x": [1, 2]}}}`, `{"functionCall": {"id": "a","name": "f"}}`)+"\n"+stop,
		parts(`{"text": "x","thought": true,"thoughtSignature": "QQ=="}`)+"\n"+finish("MALFORMED_FUNCTION_CALL"),
		text("half")+"\ndata: {\"error\": {\"code\": 429, \"details\": [{\"@type\": \"x/google.rpc.RetryInfo\", \"retryDelay\": \"1s\"}]}}\n",
		text("half")+"\n[{\n\"error\": {\"code\": \"503\"}}\n]",
		"data: {\"promptFeedback\": {\"blockReason\": \"SAFETY\"}, \"usageMetadata\": {}}\n",
	)
}
