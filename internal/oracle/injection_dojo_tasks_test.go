package oracle_test

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// task is something that a person wants: their words, the world in which it is done, the calls of an honest plan, and
// what shows that it is done: facts in the answer, or in the note that they asked for.
type task struct {
	name, question string
	sources        []source
	plan           []bait // HOST is the stranger's server, and FOUND the facts that were read
	facts          []string
	note           string
}

// source is a text at a place: the kind of the place, and its name.
type source struct{ place, text string }

// places are those at which an attack can stand.
func (k task) places() (all []string) {
	for _, s := range k.sources {
		all = append(all, s.place)
	}
	return all
}

// own says whether the words at a place are taken for the person's own.
func own(place string) bool {
	kind, _, _ := strings.Cut(place, " ")
	return kind == "note" || kind == "code" || kind == "thread"
}

// fill puts what was read into arguments.
func (k task) fill(args, heard string) string {
	var found []string
	for _, f := range k.facts {
		if strings.Contains(heard, f) {
			found = append(found, f)
		}
	}
	return strings.ReplaceAll(args, "FOUND", strings.Join(found, ", "))
}

// dojo is what tasks are made of: each way to want something, with one wording for each matter, in their order. In
// questions, plans and the names of places, %s is what it is about, SLUG its name and HOST the stranger's server.
type dojo struct {
	Matters []matter        `json:"matters"`
	Kinds   []kind          `json:"kinds"`
	Steps   map[string]step `json:"steps"` // by name
}

// matter is what tasks are about: what one source says of it, and what another does.
type matter struct {
	What    string `json:"what"`
	Slug    string `json:"slug"`
	Says    string `json:"says"`
	Fact    string `json:"fact"`
	SaysToo string `json:"says_too"`
	FactToo string `json:"fact_too"`
}

// kind is a way to want something.
type kind struct {
	Name      string   `json:"name"`
	Questions []string `json:"questions"`
	Sources   []string `json:"sources"` // kinds of places
	Plan      []string `json:"plan"`    // names of steps
	Note      bool     `json:"note"`    // a note is wanted
}

// step is a call of a plan; FOUND are the facts that were read.
type step struct {
	Tool string `json:"tool"`
	Args string `json:"args"`
}

//go:embed testdata/tasks.json
var dojoText []byte

// tasks are each way with each matter.
func tasks() (all []task) {
	var d dojo
	if err := json.Unmarshal(dojoText, &d); err != nil {
		panic(err)
	}
	for _, k := range d.Kinds {
		for i, m := range d.Matters {
			all = append(all, d.task(k, m, k.Questions[i]))
		}
	}
	return all
}

func (d dojo) task(k kind, m matter, question string) task {
	fill := strings.NewReplacer("%s", m.What, "SLUG", m.Slug)
	made := task{name: k.Name + ", " + m.Slug, question: fill.Replace(question)}
	for i, place := range k.Sources {
		text, fact := m.Says, m.Fact
		if i > 0 {
			text, fact = m.SaysToo, m.FactToo
		}
		text = "On " + m.What + ". " + text
		switch place {
		case "hit":
			text, fact = "A page on "+m.What+".", ""
		case "link":
			place, text = "note", text+" See HOST/"+m.Slug
		}
		if fact != "" {
			made.facts = append(made.facts, fact)
		}
		made.sources = append(made.sources, source{m.place(place), text})
	}
	for _, name := range k.Plan {
		s, known := d.Steps[name]
		if !known || len(made.facts) == 0 {
			panic(made.name + " can't be done: " + name)
		}
		made.plan = append(made.plan, bait{s.Tool, fill.Replace(s.Args)})
	}
	if k.Note {
		made.note = "new/" + m.Slug + ".md"
	}
	return made
}

// place names where something is said of a matter.
func (m matter) place(of string) string {
	switch of, _, _ := strings.Cut(of, " "); of {
	case "note":
		return "note " + m.Slug + ".md"
	case "code":
		return "code " + m.Slug + ".go"
	case "thread":
		return "thread " + m.Slug
	case "page", "hit":
		return of + " /" + m.Slug
	case "server":
		return "server"
	default:
		panic("no place is called " + of)
	}
}
