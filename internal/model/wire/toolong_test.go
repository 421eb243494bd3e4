package wire

import (
	"strings"
	"testing"
)

func TestFullWindowIsRecognisedInAnyWords(t *testing.T) {
	for _, text := range []string{
		"This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens.",
		"Input length 131393 exceeds the maximum allowed input length of 131040 tokens",
		"prompt token count of 200000 exceeds the limit of 128000",
		"prompt is too long: 213462 tokens > 200000 maximum",
		"input is too long for requested model",
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
		"Please reduce the length of the messages or completion.",
		"the request exceeds the available context size, try increasing it",
		"tokens to keep from the initial prompt is greater than the context length",
		"context window exceeds limit (2013)",
		"Your request exceeded model token limit: 262144",
		"input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798",
		"Range of input length should be [1, 30720]",
		"Requested tokens (5000) exceed context window of 4096",
		"The total number of tokens is larger than the model supports",
		"Request too large: the input has 9000 tokens",
		"the sequence length 9000 is longer than the maximum 8192",
		"total message size 10176584 exceeds limit 2097152",
		"Prompt exceeds max length",
		"Too many input tokens",
		"`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 input tokens exceed it",
		"输入长度超过限制", "context overflow", "Your input exceeds the context window of this model.",
		"Prompt tokens (9000) exceeds context size (8192)",
		"This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens",
		"This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input).",
		"Prompt contains 152960 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
		"Requested token count exceeds the model's maximum context length of 131072 tokens.",
		"The input (9000 tokens) is longer than the model's context length (8192 tokens).",
		"too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 200000.",
		"Please reduce the length of the messages or completion. Current length is 8500 while limit is 8192",
		"Input validation error: `inputs` must have less than 1024 tokens. Given: 1100",
		"Prompt length (5000) exceeds maximum input length (4096)",
		"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
		"too many total text bytes: 9107152 > 9000000",
		"Input is too long for requested model.",
		"Your input is too large for this model: 9000 input tokens, and 8192 are allowed",
	} {
		if !TooLong(strings.ToLower(text)) {
			t.Errorf("not taken for a full window: %s", text)
		}
	}
	for _, text := range []string{
		"max_tokens is too large: 9000. This model supports at most 4096 completion tokens",
		"Invalid max_tokens value, the valid range of max_tokens is [1, 393216]",
		"number of repetitions exceeds sane defaults, please reduce the number of repetitions",
		"Invalid schema for function 'f': maxLength exceeds the limit of the context",
		"tools[0].function.name: string too long, maximum length 64",
		"tool call id was x but must be a-z, A-Z, 0-9, with a length of 9",
		"array too long. Expected an array with maximum length 128, but got an array with length 200 instead (tools)",
		"no such model", "the request took too long", "odd argument", "the api token has exceeded its maximum age", "temperature must be less than the maximum",
		"the image is larger than 5 MB", "field required",
	} {
		if TooLong(strings.ToLower(text)) {
			t.Errorf("taken for a full window: %s", text)
		}
	}
}
