package oracle

import (
	"time"

	"sibyl/internal/schema"
	"sibyl/internal/tool"
)

// Options are what a person sets besides the question.
type Options struct {
	Model    string        `json:"model,omitempty" tool:"-" flag:",m" names:"model" setting:"model" doc:"the model, by its name or as provider:model; a provider alone takes its usual one"`
	Code     schema.Folder `json:"code,omitempty" tool:"a folder of code on the server" flag:"in" names:"folder" min:"1" doc:"a folder of code, searched if likelier sources have nothing"`
	Vault    schema.Folder `json:"vault,omitempty" tool:"a folder of notes on the server" names:"folder" min:"1" setting:"vault" doc:"a folder of notes, searched in the same way, and written to on request"`
	Web      *bool         `json:"web,omitempty" tool:"-" doc:"search the web beside what is likelier" no:"don't search the web or open pages"`
	AskNotes bool          `json:"-" flag:"notes" doc:"search your notes, at the latest when likelier sources have nothing"`
	// Instructions are how the person wants every answer; Preset is how they want this one.
	Instructions string        `json:"instructions,omitempty" tool:"-" flag:"system" names:"instructions" setting:"instructions" max:"8000" doc:"how to answer, in your own words, in place of your usual instructions; '' for none"`
	Preset       schema.Preset `json:"preset,omitempty" tool:"-" flag:",p" names:"preset" max:"500" doc:"a preset: a prompt with options, see ‘sibyl presets’"`
	Set          []string      `json:"set,omitempty" tool:"-" names:"variables" max:"50" doc:"a variable of the preset, as name=value; can be given several times"`
	MaxTurns     int           `json:"max_turns,omitempty" tool:"-" setting:"max_turns" min:"1" max:"200" doc:"turns of the model at most"`
	MaxTokens    int           `json:"max_tokens,omitempty" tool:"-" setting:"max_tokens" min:"1000" max:"10000000" none:"no limit" doc:"tokens of all turns, cached ones aside, after which the last turn begins"`
	MaxTime      time.Duration `json:"max_time_seconds,omitempty" tool:"-" flag:"max-time" setting:"max_time" min:"5" max:"3600" none:"no limit" doc:"time at most: the last turn begins after 80 % of it, and what still runs at its end is stopped"`
	Fallback     *bool         `json:"fallback,omitempty" tool:"-" doc:"let other models answer where this one does not" no:"don't try another model where this one does not answer"`
	Material     string        `json:"material,omitempty" tool:"-" flag:"-" max:"22020096" doc:"what the question is about, as data: a text of at most 262144 bytes, or what POST /api/documents made of files. It gives no orders, and nothing is written for it"`
	// SameMaterial hands over the material of the replaced question again, in place of Material.
	SameMaterial bool `json:"same_material,omitempty" tool:"-" flag:"-" doc:"hand over the text again that the replaced question was about"`
	// Drop takes what was handed over earlier out of the session, from this question on. Other names are left alone.
	Drop []string `json:"drop,omitempty" tool:"-" flag:"-" max:"200" doc:"names of what was handed over earlier in the session and is shown no more"`

	Piped bool `json:"-"` // the words themselves are material
}

// namedSources are the sources that the person named: all are searched before an answer says that nothing was found.
func (o *Options) namedSources() (all []tool.Source) {
	for _, s := range []struct {
		named  bool
		source tool.Source
	}{{o.Code.Name != "", tool.Code}, {o.AskNotes || o.Vault.Name != "", tool.Vault},
		{o.Web != nil && *o.Web, tool.Web}} {
		if s.named {
			all = append(all, s.source)
		}
	}
	return all
}
