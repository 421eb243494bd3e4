package agent

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sibyl/internal/tool"
)

// Integrity says whose words a text is made of.
type Integrity string

// Whose words, the most trusted first: those of the person, those of files that are theirs, and those of strangers.
const (
	Person   Integrity = ""
	Own      Integrity = "own"
	Stranger Integrity = "stranger"
)

// rank orders them; what is not known is least trusted.
func (i Integrity) rank() int {
	switch i {
	case Person, "person":
		return 2
	case Own:
		return 1
	}
	return 0
}

// atLeast says whether words of i may be taken where those of o may.
func (i Integrity) atLeast(o Integrity) bool { return i.rank() >= o.rank() }

func (i Integrity) String() string { return cmp.Or(string(i), "person") }

// Labels say of a text whose words it is made of, and whether it is its owner's alone. What is made of two texts has
// the join of their labels. Public is that of the person's own words, which may go where they are sent.
type Labels string

// Public is the zero value.
const Public Labels = ""

// private is the end of the labels of what is its owner's alone.
const private = " private"

// LabelledAs makes labels.
func LabelledAs(i Integrity, isPrivate bool) Labels {
	if isPrivate {
		return Labels(i + private)
	}
	return Labels(i)
}

// Integrity says whose words they are.
func (l Labels) Integrity() Integrity { return Integrity(strings.TrimSuffix(string(l), private)) }

// Private says whether it is for the owner alone.
func (l Labels) Private() bool { return strings.HasSuffix(string(l), private) }

// Join is the label of what two texts were seen for.
func (l Labels) Join(o Labels) Labels {
	if l == o {
		return l
	}
	i := l.Integrity()
	if of := o.Integrity(); !of.atLeast(i) {
		i = of
	}
	return LabelledAs(i, l.Private() || o.Private())
}

func (l Labels) String() string {
	if l.Private() {
		return l.Integrity().String() + ", private"
	}
	return l.Integrity().String() + ", public"
}

// labelsOf are those of what a tool gives: the web is public and a stranger's, servers of others are a stranger's and
// private, all else is the person's own and private.
func labelsOf(s tool.Source, foreign bool) Labels {
	i := Own
	if foreign {
		i = Stranger
	}
	return LabelledAs(i, s != tool.Web)
}

// mostAddresses bounds how many addresses a run knows. A further one is unknown.
const mostAddresses = 2000

// Know takes in addresses, as Address names them.
func (l *Ledger) Know(addresses ...string) {
	for _, a := range addresses {
		if a != "" && len(l.Addresses) < mostAddresses && !slices.Contains(l.Addresses, a) {
			l.Addresses = append(l.Addresses[:len(l.Addresses):len(l.Addresses)], a)
		}
	}
}

// Newest are the addresses that came to be known last.
func (l *Ledger) Newest(most int) []string { return l.Addresses[max(0, len(l.Addresses)-most):] }

// Address names an address: the digest of its host, port, path and query, letter by letter. "" if it is none, or holds
// a user.
func Address(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" {
		return ""
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return Digest(strings.ToLower(u.Host), path, "?", u.RawQuery)
}

var writtenAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:https?://|www\.)[^\s<>"'“”‘’«»` + "`" +
		`]+|\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?(?:[/?#][^\s<>"'“”‘’«»` + "`" + `]*)?`)
})

// AddressesIn names the addresses that a person wrote in a text. Marks behind one may belong to it or to the sentence,
// so both are known.
func AddressesIn(text string) []string {
	var all []string
	for _, a := range writtenAddress().FindAllString(text, mostAddresses/2) {
		a, _, _ = strings.Cut(a, "](") // a link of Markdown that shows its address
		for {
			all = append(all, Address(a))
			last, size := utf8.DecodeLastRuneInString(a)
			if a == "" || !strings.ContainsRune(".,;:!?)]}*_|…", last) {
				break
			}
			a = a[:len(a)-size]
		}
	}
	return all
}

// sent is what a call sends away by its Out.Arg; false if it has no such text.
func sent(o tool.Out, arguments string) (string, bool) {
	var args map[string]any
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return "", false
	}
	text, ok := args[o.Arg].(string)
	return text, ok
}
