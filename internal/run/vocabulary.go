package run

import (
	"encoding/json"
	"fmt"
	"reflect"

	"sibyl/internal/bt"
)

// Vocabulary knows the events that the leaves of an assistant tell, by their types.
type Vocabulary map[string]reflect.Type

// NewVocabulary knows these events. It panics if two of them have one type.
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

// Read gives what was told, as it was told; nil for an event of another kind, or one that this build does not know or
// can't read.
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

// Words says what happened in a line: what was told in the event's own words, else the reason, or the key with its
// value. An event that this build does not know is shown as it is kept.
func (v Vocabulary) Words(e TraceEvent) string {
	switch told := v.Read(e).(type) {
	case fmt.Stringer:
		return told.String()
	case nil:
		switch {
		case e.Type != "":
			return e.Type + " " + string(e.Data)
		case e.Key != "":
			return e.Key + " := " + e.Value
		}
	}
	return e.Reason
}
