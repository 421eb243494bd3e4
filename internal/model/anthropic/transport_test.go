package anthropic

import "testing"

func TestAnthropicsOwnAddressIsTheDefault(t *testing.T) {
	m := New(Config{Provider: Anthropic, Model: "m"})
	if base, err := m.at.BaseURL(); err != nil || base != DefaultBaseURL {
		t.Errorf("got %v, %v", base, err)
	}
}
