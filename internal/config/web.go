package config

import (
	"fmt"
	"strings"
)

const (
	SearXNG = "searxng"
	Brave   = "brave"
	Tavily  = "tavily"
)

// Web says where to search the web.
type Web struct {
	Off      bool     // there is no web: neither searches nor pages
	Allow    []string // hosts of which, with all below them, pages may be opened; nil: all
	Deny     []string // hosts of which none may be, whatever Allow says
	Engine   string   // SearXNG, Brave or Tavily: the one that is set, else the first that is set up; "" for none
	SearXNG  string   // address of a SearXNG server, without credentials; "" for none
	User     string   // for a server that asks for them; from the environment only
	Password Secret
	Brave    KeySource
	Tavily   KeySource
}

// Missing says what would set the engine up, or any where none is chosen; "" if it is set up.
func (w Web) Missing() string {
	const searxng = "set web.searxng or SIBYL_SEARXNG_URL to a SearXNG server with JSON enabled"
	if w.Off {
		return "web access is off: set web.access or SIBYL_WEB to on"
	}
	switch w.Engine {
	case "":
		return searxng + ", or store a key of Brave or Tavily with ‘sibyl config set-key brave’ or ‘… tavily’"
	case SearXNG:
		if w.SearXNG == "" {
			return searxng
		}
	default:
		if source := w.keyOf(w.Engine); !source.present() {
			return source.missing(w.Engine)
		}
	}
	return ""
}

// keyOf says where the key of an engine comes from.
func (w Web) keyOf(engine string) KeySource {
	switch engine {
	case Brave:
		return w.Brave
	case Tavily:
		return w.Tavily
	}
	return KeySource{}
}

// engineSetUp returns the first engine that is set up, or "". A server of one's own comes first.
func (w Web) engineSetUp() string {
	for _, engine := range []string{SearXNG, Brave, Tavily} {
		if w.Engine = engine; w.Missing() == "" {
			return engine
		}
	}
	return ""
}

// webSwitch is the setting that a word in the place of the section web means.
const webSwitch = "web.access"

// offSwitch takes on or off.
func (v value) offSwitch(into *bool) error {
	switch word := strings.ToLower(fmt.Sprint(v.raw)); word {
	case "on", "true":
		*into = false
	case "off", "false":
		*into = true
	default:
		return fmt.Errorf("is %s; it must be on or off", v.quoted())
	}
	return nil
}

const hostsExample = "[example.org, docs.example.com]"
