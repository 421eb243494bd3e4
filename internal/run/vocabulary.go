package run

import (
	"encoding/json"
	"reflect"

	"sibyl/internal/bt"
)

// Vocabulary has the Go types of an assistant's typed events, by event type.
type Vocabulary map[string]reflect.Type

// NewVocabulary makes a vocabulary of these events. It panics if two have the same type.
func NewVocabulary(events ...bt.Typed) Vocabulary {
	v := Vocabulary{}
	for _, e := range events {
		if v[e.EventType()] != nil {
			panic("two events are called " + e.EventType())
		}
		v[e.EventType()] = reflect.TypeOf(e)
	}
	return v
}

// Read decodes a typed event; nil for an event without a type, or one that this build does not know or can't read.
func (v Vocabulary) Read(e TraceEvent) bt.Typed {
	t := v[e.Type]
	if t == nil {
		return nil
	}
	event := reflect.New(t)
	if json.Unmarshal(e.Data, event.Interface()) != nil {
		return nil
	}
	return event.Elem().Interface().(bt.Typed)
}

// Story is what an event tells people; its text is empty if it tells them nothing, or this build does not know it.
func (v Vocabulary) Story(e TraceEvent) bt.Why {
	if event, isNarrated := v.Read(e).(bt.Narrated); isNarrated {
		return event.Story()
	}
	return bt.Why{}
}
